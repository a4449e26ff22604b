package informer

import (
	"cmp"
	"maps"
	"slices"

	"github.com/kinform/kinform/deltafifo"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/reflector"
	"k8s.io/apimachinery/pkg/types"
)

// lateObject is the error of an object that was unreadable, and the number (turn) of the queue's
// batch that has its new state.
type lateObject struct {
	unread *listwatch.ObjectError
	turn   int
}

// keepUnreadable keeps the errors of objects that the reflector is about to forget, until the store
// has applied the queue's changes of these objects.
func (i *Informer[T]) keepUnreadable(unread []*listwatch.ObjectError) {
	i.mu.Lock()
	defer i.mu.Unlock()
	turn := i.queue.Turn()
	if i.storedLocked(turn) {
		return
	}
	if i.late == nil {
		i.late = make(map[types.NamespacedName]lateObject)
	}
	for _, object := range unread {
		i.late[object.Key] = lateObject{object, turn}
	}
}

// begin records that the next transaction of the store is this batch.
func (i *Informer[T]) begin(batch deltafifo.Batch[T]) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.turn, i.revision = batch.Turn, i.store.Revision()+1
}

// storedLocked reports whether the store has the batch with a number, or the queue dropped that
// batch. The result changes at the same moment at which readers see the batch.
func (i *Informer[T]) storedLocked(turn int) bool {
	return turn < i.turn || turn == i.turn && i.store.Revision() >= i.revision || i.queue.Passed(turn)
}

// forgetLateLocked forgets the objects whose new state is stored.
func (i *Informer[T]) forgetLateLocked() {
	maps.DeleteFunc(i.late, func(_ types.NamespacedName, late lateObject) bool { return i.storedLocked(late.turn) })
}

// note records the objects that index functions refused, and forgets refused objects that are now
// stored or gone. It reports whether the store now has the whole first list, and did not before.
// The list is incomplete while objects are refused, unless SkipUnreadable is set.
func (i *Informer[T]) note(changes []change[T], refused map[types.NamespacedName]error, batch deltafifo.Batch[T]) (complete bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.refused) > 0 {
		for _, stack := range batch.Stacks {
			if stack.Newest().Type != deltafifo.Sync {
				delete(i.refused, stack.Key)
			}
		}
	}
	if len(refused) > 0 {
		if i.refused == nil {
			i.refused = make(map[types.NamespacedName]*listwatch.ObjectError)
		}
		for _, c := range changes {
			if err := refused[c.op.Key]; err != nil {
				i.refused[c.op.Key] = &listwatch.ObjectError{Key: c.op.Key, ResourceVersion: c.op.ResourceVersion, Err: err}
			}
		}
	}
	i.refusing.Store(int64(len(i.refused)))
	i.forgetLateLocked()
	i.listed = i.listed || batch.Initial
	return i.listed && !i.populated && (len(i.refused) == 0 || i.opts.Reflector.SkipUnreadable)
}

// refusedKeys returns the keys of the objects that index functions refused.
func (i *Informer[T]) refusedKeys() []types.NamespacedName {
	if i.refusing.Load() == 0 {
		return nil
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.Collect(maps.Keys(i.refused))
}

// isRefused reports whether an index function refused the object of a key.
func (i *Informer[T]) isRefused(key types.NamespacedName) bool {
	if i.refusing.Load() == 0 {
		return false
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.refused[key] != nil
}

// whyUnreadable returns why the store does not have the newest state of a key, or nil if no reason
// is known.
func (i *Informer[T]) whyUnreadable(key types.NamespacedName) error {
	i.mu.Lock() // Also during the call of the reflector, which moves errors to late.
	defer i.mu.Unlock()
	if refused := i.refused[key]; refused != nil {
		return refused
	}
	if late, ok := i.late[key]; ok && !i.storedLocked(late.turn) {
		return late.unread
	}
	return i.reflector.Unreadable(key)
}

// maxRefused is the maximum number of unreadable objects that Status names.
const maxRefused = 100

// unreadable adds two groups to the reflector's unreadable objects: objects that index functions
// refused, and objects whose new state is not stored yet. An object in both groups counts once, if
// the reflector names it.
func (i *Informer[T]) unreadable(u reflector.Unreadable) reflector.Unreadable {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.forgetLateLocked() // The queue may have dropped batches since the last stored batch.
	others := i.refused
	if len(i.late) > 0 {
		others = maps.Clone(i.refused)
		for key, late := range i.late {
			if others == nil {
				others = make(map[types.NamespacedName]*listwatch.ObjectError)
			}
			others[key] = cmp.Or(others[key], late.unread)
		}
	}
	if len(others) == 0 {
		return u
	}
	named := u.Objects
	u.Objects = slices.Clip(named) // The reflector returns the same array to every caller.
	u.Count += len(others)
	for _, unread := range named {
		if others[unread.Key] != nil {
			u.Count--
		}
	}
	for key, unread := range others {
		if len(u.Objects) >= maxRefused {
			break
		}
		if !slices.ContainsFunc(named, func(other *listwatch.ObjectError) bool { return other.Key == key }) {
			u.Objects = append(u.Objects, unread)
		}
	}
	return u
}

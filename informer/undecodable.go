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

// recoveringObject is the error of an object that was undecodable, and the number of the queue's
// batch that has its new state.
type recoveringObject struct {
	undecodable *listwatch.ObjectError
	batch       int
}

// keepUndecodable keeps the errors of objects that the reflector is about to forget, until the
// store has applied the queue's changes of these objects.
func (i *Informer[T]) keepUndecodable(objects []*listwatch.ObjectError) {
	i.mu.Lock()
	defer i.mu.Unlock()
	batch := i.queue.BatchNumber()
	if i.storedLocked(batch) {
		return
	}
	if i.recovering == nil {
		i.recovering = make(map[types.NamespacedName]recoveringObject)
	}
	for _, object := range objects {
		i.recovering[object.Key] = recoveringObject{object, batch}
	}
}

// beginBatch records that the next transaction of the store is this batch.
func (i *Informer[T]) beginBatch(batch deltafifo.Batch[T]) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.batch, i.revision = batch.Number, i.store.Revision()+1
}

// storedLocked reports whether the store has the batch with a number, or the queue dropped that
// batch. The result becomes true at the moment when readers see the batch.
func (i *Informer[T]) storedLocked(number int) bool {
	return number < i.batch || number == i.batch && i.store.Revision() >= i.revision || i.queue.Applied(number)
}

// forgetRecoveredLocked forgets the objects whose new state is stored.
func (i *Informer[T]) forgetRecoveredLocked() {
	maps.DeleteFunc(i.recovering, func(_ types.NamespacedName, object recoveringObject) bool { return i.storedLocked(object.batch) })
}

// recordRefused records the objects that index functions refused, and forgets refused objects that
// are now stored or gone. It returns true once, when the store has the whole first list for the
// first time. The list is incomplete while objects are refused, unless SkipUndecodable is set.
func (i *Informer[T]) recordRefused(changes []change[T], refused map[types.NamespacedName]error, batch deltafifo.Batch[T]) (complete bool) {
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
	i.refusedCount.Store(int64(len(i.refused)))
	i.forgetRecoveredLocked()
	i.listed = i.listed || batch.Initial
	return i.listed && !i.populated && (len(i.refused) == 0 || i.opts.Reflector.SkipUndecodable)
}

// refusedKeys returns the keys of the objects that index functions refused.
func (i *Informer[T]) refusedKeys() []types.NamespacedName {
	if i.refusedCount.Load() == 0 {
		return nil
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.Collect(maps.Keys(i.refused))
}

// isRefused reports whether an index function refused the object of a key.
func (i *Informer[T]) isRefused(key types.NamespacedName) bool {
	if i.refusedCount.Load() == 0 {
		return false
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.refused[key] != nil
}

// whyUndecodable returns why the store does not have the newest state of a key, or nil if no reason
// is known.
func (i *Informer[T]) whyUndecodable(key types.NamespacedName) error {
	// The lock is held during the call of the reflector too, because the reflector may move errors
	// to recovering at the same time.
	i.mu.Lock()
	defer i.mu.Unlock()
	if refused := i.refused[key]; refused != nil {
		return refused
	}
	if recovering, ok := i.recovering[key]; ok && !i.storedLocked(recovering.batch) {
		return recovering.undecodable
	}
	return i.reflector.Undecodable(key)
}

// maxRefused is the maximum number of undecodable and refused objects that Status names.
const maxRefused = 100

// allUndecodable adds two groups to the reflector's undecodable objects: objects that index
// functions refused, and objects whose new state is not stored yet. An object in both groups counts
// once, if the reflector names it.
func (i *Informer[T]) allUndecodable(u reflector.Undecodable) reflector.Undecodable {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.forgetRecoveredLocked() // The queue may have dropped batches since the last stored batch.
	others := i.refused
	if len(i.recovering) > 0 {
		others = maps.Clone(i.refused)
		for key, recovering := range i.recovering {
			if others == nil {
				others = make(map[types.NamespacedName]*listwatch.ObjectError)
			}
			others[key] = cmp.Or(others[key], recovering.undecodable)
		}
	}
	if len(others) == 0 {
		return u
	}
	named := u.Objects
	u.Objects = slices.Clip(named) // The reflector returns the same array to every caller.
	u.Count += len(others)
	for _, undecodable := range named {
		if others[undecodable.Key] != nil {
			u.Count--
		}
	}
	for key, undecodable := range others {
		if len(u.Objects) >= maxRefused {
			break
		}
		if !slices.ContainsFunc(named, func(other *listwatch.ObjectError) bool { return other.Key == key }) {
			u.Objects = append(u.Objects, undecodable)
		}
	}
	return u
}

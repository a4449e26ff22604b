package informer

import (
	"maps"
	"slices"

	"github.com/kinform/kinform/deltafifo"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/reflector"
	"k8s.io/apimachinery/pkg/types"
)

// note takes note of the objects that index functions have refused, and forgets those
// that are stored now, or gone. It reports whether the store has all of the first list
// now, and had not before: one that lacks an object is none, unless somebody has chosen
// that.
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
	i.listed = i.listed || batch.Initial
	return i.listed && !i.populated && (len(i.refused) == 0 || i.opts.Reflector.SkipUnreadable)
}

// refusedKeys are the keys of the objects that index functions have refused.
func (i *Informer[T]) refusedKeys() []types.NamespacedName {
	if i.refusing.Load() == 0 {
		return nil
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.Collect(maps.Keys(i.refused))
}

// isRefused says whether an index function has refused the object of a key.
func (i *Informer[T]) isRefused(key types.NamespacedName) bool {
	if i.refusing.Load() == 0 {
		return false
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.refused[key] != nil
}

// whyUnreadable is why the store does not have the newest state of a key, nil where
// nothing of that kind is known.
func (i *Informer[T]) whyUnreadable(key types.NamespacedName) error {
	if i.refusing.Load() > 0 {
		i.mu.Lock()
		refused := i.refused[key]
		i.mu.Unlock()
		if refused != nil {
			return refused
		}
	}
	return i.reflector.Unreadable(key)
}

// maxRefused is how many refused objects Status names.
const maxRefused = 100

// unreadable adds the objects that index functions have refused to those that the
// reflector could not read. One that is both, as its next version could not even be read,
// is one, as far as the reflector names it.
func (i *Informer[T]) unreadable(u reflector.Unreadable) reflector.Unreadable {
	if i.refusing.Load() == 0 {
		return u
	}
	named := u.Objects
	u.Objects = slices.Clip(named) // The reflector tells everybody of the same array.
	i.mu.Lock()
	defer i.mu.Unlock()
	u.Count += len(i.refused)
	for _, unread := range named {
		if i.refused[unread.Key] != nil {
			u.Count--
		}
	}
	for key, unread := range i.refused {
		if len(u.Objects) >= maxRefused {
			break
		}
		if !slices.ContainsFunc(named, func(other *listwatch.ObjectError) bool { return other.Key == key }) {
			u.Objects = append(u.Objects, unread)
		}
	}
	return u
}

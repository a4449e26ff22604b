// The store. Everything that was heard ends up in a map from key to object. Readers come at any time and from
// anywhere, so a lock guards it, which any number of readers share. To find objects by what they are (all
// pods of a node), one does not look at each of them: an index is a second map, from a value to the keys that
// have it. The values are computed by a function of the object when it is stored, by who stores it, and never
// when somebody looks.

package plain

import (
	"fmt"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// KeyOf returns the key of an object: its namespace and name. Two objects may have the same key one after the
// other, when one is deleted and another created; at one moment a key is one object.
func KeyOf(object metav1.Object) types.NamespacedName {
	return types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()}
}

// IndexFunc returns the values of an object in an index: none, one or many. It must not change the object.
type IndexFunc[T metav1.Object] func(object T) ([]string, error)

// Store holds objects by key and finds them by index. It is safe for concurrent use. The objects belong to
// everybody: who wants to change one copies it first.
type Store[T metav1.Object] struct {
	funcs map[string]IndexFunc[T] // by name

	mu      sync.RWMutex // guards following
	entries map[types.NamespacedName]entry[T]
	indexes map[string]index // by name
}

// entry is an object and what it was filed under. The values are kept, as an object that somebody has changed
// by mistake would no longer be found under those that it was filed under.
type entry[T metav1.Object] struct {
	object T
	values map[string][]string // by name of the index
}

// index has the keys of each value.
type index map[string]map[types.NamespacedName]bool

// NewStore returns an empty store with indexes by name.
func NewStore[T metav1.Object](funcs map[string]IndexFunc[T]) *Store[T] {
	s := &Store[T]{entries: map[types.NamespacedName]entry[T]{}, funcs: map[string]IndexFunc[T]{}, indexes: map[string]index{}}
	for name, f := range funcs {
		s.funcs[name], s.indexes[name] = f, index{}
	}
	return s
}

// Put stores an object. It changes nothing where an index function fails.
func (s *Store[T]) Put(object T) error {
	values := map[string][]string{}
	for name, f := range s.funcs {
		found, err := f(object)
		if err != nil {
			return fmt.Errorf("index %q of %v: %w", name, KeyOf(object), err)
		}
		values[name] = found
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deleteLocked(KeyOf(object))
	s.entries[KeyOf(object)] = entry[T]{object, values}
	for name, found := range values {
		s.indexes[name].add(KeyOf(object), found)
	}
	return nil
}

// Delete removes what is stored under a key, if there is anything.
func (s *Store[T]) Delete(key types.NamespacedName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deleteLocked(key)
}

func (s *Store[T]) deleteLocked(key types.NamespacedName) {
	for name, values := range s.entries[key].values {
		s.indexes[name].remove(key, values)
	}
	delete(s.entries, key)
}

// Get returns the object that is stored under a key.
func (s *Store[T]) Get(key types.NamespacedName) (object T, found bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	e, found := s.entries[key]
	return e.object, found
}

// List returns all objects, in no order.
func (s *Store[T]) List() []T {
	s.mu.RLock()
	defer s.mu.RUnlock()
	all := make([]T, 0, len(s.entries))
	for _, e := range s.entries {
		all = append(all, e.object)
	}
	return all
}

// ByIndex returns the objects that have a value in an index, in no order.
func (s *Store[T]) ByIndex(name, value string) ([]T, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	index, ok := s.indexes[name]
	if !ok {
		return nil, fmt.Errorf("the store has no index %q", name)
	}
	all := make([]T, 0, len(index[value]))
	for key := range index[value] {
		all = append(all, s.entries[key].object)
	}
	return all, nil
}

// IndexValues returns the values that any object has in an index, in no order.
func (s *Store[T]) IndexValues(name string) ([]string, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	index, ok := s.indexes[name]
	if !ok {
		return nil, fmt.Errorf("the store has no index %q", name)
	}
	all := make([]string, 0, len(index))
	for value := range index {
		all = append(all, value)
	}
	return all, nil
}

func (i index) add(key types.NamespacedName, values []string) {
	for _, value := range values {
		if i[value] == nil {
			i[value] = map[types.NamespacedName]bool{}
		}
		i[value][key] = true
	}
}

func (i index) remove(key types.NamespacedName, values []string) {
	for _, value := range values {
		delete(i[value], key)
		if len(i[value]) == 0 {
			delete(i, value)
		}
	}
}

// What package indexer does beyond this:
//
//   - Readers take no lock, and writers do not wait for readers: whoever iterates sees one moment, however
//     long that takes. Here, whoever lists 20,000 objects stops the watch for as long, and each list is a
//     copy.
//   - A relist is one step: a reader sees all of the old state or all of the new one.
//   - The store knows through which version it is complete, and one can wait for a version: so one reads
//     one's own writes.
//   - Indexes can be added while it is used, and an object keeps no map of its values: two pointers instead
//     of 100 bytes.

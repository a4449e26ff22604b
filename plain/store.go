// The store. The copy of the server's objects is a map from key to object. Many goroutines read the
// map at any time, so a lock guards it. Any number of readers may hold the lock together. A program
// often needs objects by a property, such as all pods of a node, and should find them without a
// visit to every object. An index is a second map, from a value to the keys that have it. A
// function of the program computes the values of an object. Put calls this function when it stores
// the object, so a look-up computes nothing.

package plain

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// KeyOf returns the key of an object: its namespace and name. Two objects may have the same key one
// after the other, if one is deleted and another created. At any moment, at most one object has a
// key.
func KeyOf(object metav1.Object) types.NamespacedName {
	return types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()}
}

// IndexFunc returns the values of an object in an index: none, one or many. It must not change the
// object.
type IndexFunc[T metav1.Object] func(object T) ([]string, error)

// Store holds objects by key and finds them by index. It is safe for concurrent use. All readers
// share its objects: copy an object before you change it.
type Store[T metav1.Object] struct {
	funcs map[string]IndexFunc[T] // by name of the index

	mu      sync.RWMutex // guards following
	entries map[types.NamespacedName]entry[T]
	indexes map[string]index // by name
}

// entry is an object with its index values. The store keeps the values, because a program may
// change the object by mistake. The function would then return other values, and the store could
// not find the old values.
type entry[T metav1.Object] struct {
	object T
	values map[string][]string // by name of the index
}

// index has the keys of each value.
type index map[string]map[types.NamespacedName]bool

// NewStore returns an empty store with indexes by name.
func NewStore[T metav1.Object](funcs map[string]IndexFunc[T]) *Store[T] {
	s := &Store[T]{funcs: maps.Clone(funcs), entries: map[types.NamespacedName]entry[T]{}, indexes: map[string]index{}}
	for name := range funcs {
		s.indexes[name] = index{}
	}
	return s
}

// Put stores an object. If an index function fails, Put changes nothing.
func (s *Store[T]) Put(object T) error {
	key, values := KeyOf(object), map[string][]string{}
	for name, f := range s.funcs {
		found, err := f(object)
		if err != nil {
			return fmt.Errorf("index %q of %v: %w", name, key, err)
		}
		values[name] = found
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deleteLocked(key) // the object may have other values now
	s.entries[key] = entry[T]{object, values}
	for name, found := range values {
		for _, value := range found {
			if s.indexes[name][value] == nil {
				s.indexes[name][value] = map[types.NamespacedName]bool{}
			}
			s.indexes[name][value][key] = true
		}
	}
	return nil
}

// Delete removes the object of a key, if there is one.
func (s *Store[T]) Delete(key types.NamespacedName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deleteLocked(key)
}

func (s *Store[T]) deleteLocked(key types.NamespacedName) {
	for name, values := range s.entries[key].values {
		for _, value := range values {
			delete(s.indexes[name][value], key)
			if len(s.indexes[name][value]) == 0 {
				delete(s.indexes[name], value)
			}
		}
	}
	delete(s.entries, key)
}

// Get returns the object of a key.
func (s *Store[T]) Get(key types.NamespacedName) (object T, found bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	e, found := s.entries[key]
	return e.object, found
}

// List returns all objects, unsorted.
func (s *Store[T]) List() []T {
	s.mu.RLock()
	defer s.mu.RUnlock()
	all := make([]T, 0, len(s.entries))
	for _, e := range s.entries {
		all = append(all, e.object)
	}
	return all
}

// ByIndex returns the objects that have a value in an index, unsorted.
func (s *Store[T]) ByIndex(name, value string) ([]T, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.indexes[name] == nil {
		return nil, fmt.Errorf("the store has no index %q", name)
	}
	all := make([]T, 0, len(s.indexes[name][value]))
	for key := range s.indexes[name][value] {
		all = append(all, s.entries[key].object)
	}
	return all, nil
}

// IndexValues returns all values of an index, unsorted.
func (s *Store[T]) IndexValues(name string) ([]string, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.indexes[name] == nil {
		return nil, fmt.Errorf("the store has no index %q", name)
	}
	return slices.Collect(maps.Keys(s.indexes[name])), nil
}

// Package indexer does more than this file, for these reasons:
//
//   - Readers take no lock, and writers do not wait for readers. An iterator shows the store at one
//     moment, however long the loop takes. Here, a reader who lists 20,000 objects blocks the watch
//     meanwhile, and each list is a copy.
//   - A relist is one step: a reader sees either the old state or the new state, never a mixture.
//   - The store has the version up to which it is complete, and a reader can wait for a version. So
//     a program can read its own writes.
//   - Indexes can be added while the store is in use. Two pointers for each object replace its map
//     of values, which takes 100 bytes.

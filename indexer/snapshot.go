package indexer

import (
	"fmt"
	"hash/maphash"
	"iter"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// Snapshot is the content of a store at one moment, with its indexes and its
// resourceVersion. It never changes, costs nothing to take, and may be kept and
// read by any number of goroutines; what it holds stays in memory as long as it
// is kept. [Reader.Snapshot] makes one.
//
// Iterators copy nothing and have no order: it differs between processes and
// between versions of the store. [Sorted] gives one. Objects are the stored ones
// (IX-2) and shared by all readers: they must not be modified.
type Snapshot[T any] struct {
	seed    maphash.Seed // of every hash in the store
	entries entries[T]

	namespaces postings[T] // objects without a namespace are not in it
	indexes    []index[T]
	generation uint64 // counts the steps of adding indexes; each outdates prepared writes

	resourceVersion string
	revision        uint64
	counts          Counts // since the store was made
}

// Entry is one stored object with its identity and version.
type Entry[T any] struct {
	Key             types.NamespacedName
	Object          T
	ResourceVersion string
}

// entry is one object as it is stored. It never changes, and is shared by all
// snapshots and all indexes that it is part of.
type entry[T any] = leaf[types.NamespacedName, record[T]]

// entries is a set of entries, by key.
type entries[T any] = trie[types.NamespacedName, record[T]]

// record is what is known of an object beside its key. The terms under which it
// is indexed are kept, not computed again when the object goes: an object that
// somebody modified would have others by then (D14).
type record[T any] struct {
	object          T
	resourceVersion string
	revision        uint64 // of the transaction that wrote the object
	terms           []term[T]
}

// hash hashes a key.
func (s *Snapshot[T]) hash(key types.NamespacedName) uint64 {
	return maphash.Comparable(s.seed, key)
}

// Get returns the object with this key, and whether there is one.
func (s *Snapshot[T]) Get(key types.NamespacedName) (T, bool) {
	if e := s.entries.get(s.hash(key), key); e != nil {
		return e.value.object, true
	}
	var none T
	return none, false
}

// Entry returns the object with this key and its version, and whether there is
// one.
func (s *Snapshot[T]) Entry(key types.NamespacedName) (Entry[T], bool) {
	if e := s.entries.get(s.hash(key), key); e != nil {
		return export(e), true
	}
	return Entry[T]{}, false
}

// export returns what users may know of an entry.
func export[T any](e *entry[T]) Entry[T] {
	return Entry[T]{Key: e.key, Object: e.value.object, ResourceVersion: e.value.resourceVersion}
}

// Len returns the number of objects.
func (s *Snapshot[T]) Len() int { return s.entries.len }

// ResourceVersion returns the version through which everything has been
// applied, "" if that is not known.
func (s *Snapshot[T]) ResourceVersion() string { return s.resourceVersion }

// Revision returns the number of transactions that led here. Of two snapshots
// of one store the one with the higher revision is newer; equal ones are the
// same.
func (s *Snapshot[T]) Revision() uint64 { return s.revision }

// Keys iterates over the keys of all objects.
func (s *Snapshot[T]) Keys() iter.Seq[types.NamespacedName] {
	return func(yield func(types.NamespacedName) bool) {
		for e := range s.entries.all {
			if !yield(e.key) {
				return
			}
		}
	}
}

// Entries iterates over all objects with their keys and versions.
func (s *Snapshot[T]) Entries() iter.Seq[Entry[T]] {
	return func(yield func(Entry[T]) bool) {
		for e := range s.entries.all {
			if !yield(export(e)) {
				return
			}
		}
	}
}

// All iterates over all objects and their keys.
func (s *Snapshot[T]) All() iter.Seq2[types.NamespacedName, T] { return objects(s.entries) }

// Namespace iterates over the objects in one namespace. As in Kubernetes, ""
// (metav1.NamespaceAll) means all objects, wherever they are.
func (s *Snapshot[T]) Namespace(namespace string) iter.Seq2[types.NamespacedName, T] {
	if namespace == "" {
		return s.All()
	}
	return objects(s.namespaces.get(s.seed, namespace))
}

// Namespaces iterates over the namespaces that have objects, and how many.
func (s *Snapshot[T]) Namespaces() iter.Seq2[string, int] { return s.namespaces.all() }

// ByIndex iterates over the objects for which the named index has this value;
// there may be none (IX-8). The error is [ErrNoIndex].
func (s *Snapshot[T]) ByIndex(name, value string) (iter.Seq2[types.NamespacedName, T], error) {
	x, err := s.indexByName(name)
	if err != nil {
		return nil, err
	}
	return objects(x.postings.get(s.seed, value)), nil
}

// IndexValues iterates over the values in use in the named index (IX-4), and
// how many objects have each. The error is [ErrNoIndex].
func (s *Snapshot[T]) IndexValues(name string) (iter.Seq2[string, int], error) {
	x, err := s.indexByName(name)
	if err != nil {
		return nil, err
	}
	return x.postings.all(), nil
}

// Indexes returns the names of the indexes, sorted.
func (s *Snapshot[T]) Indexes() []string {
	var names []string
	for i := range s.indexes {
		if s.indexes[i].ready {
			names = append(names, s.indexes[i].name)
		}
	}
	slices.Sort(names)
	return names
}

// indexByName returns the index of this name, if it is ready.
func (s *Snapshot[T]) indexByName(name string) (*index[T], error) {
	for i := range s.indexes {
		if x := &s.indexes[i]; x.name == name && x.ready {
			return x, nil
		}
	}
	return nil, fmt.Errorf("%w %q, the store has %q", ErrNoIndex, name, s.Indexes())
}

// objects iterates over keys and objects of a set.
func objects[T any](set entries[T]) iter.Seq2[types.NamespacedName, T] {
	return func(yield func(types.NamespacedName, T) bool) {
		for e := range set.all {
			if !yield(e.key, e.value.object) {
				return
			}
		}
	}
}

// Sorted collects what an iterator yields and returns it ordered by namespace,
// then name, for output that people read:
//
//	for key, pod := range indexer.Sorted(store.All()) { ... }
func Sorted[T any](seq iter.Seq2[types.NamespacedName, T]) iter.Seq2[types.NamespacedName, T] {
	return func(yield func(types.NamespacedName, T) bool) {
		var sorted []Entry[T]
		for key, object := range seq {
			sorted = append(sorted, Entry[T]{Key: key, Object: object})
		}
		slices.SortFunc(sorted, func(a, b Entry[T]) int { return compareKeys(a.Key, b.Key) })
		for _, e := range sorted {
			if !yield(e.Key, e.Object) {
				return
			}
		}
	}
}

// compareKeys orders keys by namespace, then name.
func compareKeys(a, b types.NamespacedName) int {
	if c := strings.Compare(a.Namespace, b.Namespace); c != 0 {
		return c
	}
	return strings.Compare(a.Name, b.Name)
}

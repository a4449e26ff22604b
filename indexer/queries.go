package indexer

import (
	"iter"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/indexer/internal/versions"
)

// queries has the methods that [Reader] and [Snapshot] have in common. Iterators neither copy nor
// allocate. Their order is not defined; [Sorted] sorts. They yield the stored objects themselves
// (IX-2), which all readers share: nobody may modify them.
type queries[T any] struct {
	source versions.Source
}

// Entry is one stored object with its identity and version.
type Entry[T any] struct {
	Key             types.NamespacedName
	Object          T
	ResourceVersion string
	UIDHash         uint64 // as in Op
}

// Get returns the object with this key, and whether the store has it.
func (q *queries[T]) Get(key types.NamespacedName) (T, bool) {
	if v := q.source.Get(key); v != nil {
		return objectOf[T](v), true
	}
	var none T
	return none, false
}

// Entry returns the object with this key and its version, and whether the store has it.
func (q *queries[T]) Entry(key types.NamespacedName) (Entry[T], bool) {
	if v := q.source.Get(key); v != nil {
		return Entry[T]{key, objectOf[T](v), v.ResourceVersion, v.UIDHash}, true
	}
	return Entry[T]{}, false
}

// objectOf returns the object of a version. If T is an interface, the object may be nil.
func objectOf[T any](v *versions.Version) T {
	object, _ := v.Object.(T)
	return object
}

// Len returns the number of objects.
func (q *queries[T]) Len() int { return q.source.State().Objects }

// ResourceVersion returns the version through which the store is complete, or "" if that is
// unknown.
func (q *queries[T]) ResourceVersion() string { return q.source.State().ResourceVersion }

// Revision returns the number of transactions so far. Of two snapshots of one store, the snapshot
// with the higher revision is newer. With equal revisions, their content is equal.
func (q *queries[T]) Revision() uint64 { return q.source.State().Revision }

// Indexes returns the names of the indexes, sorted.
func (q *queries[T]) Indexes() []string { return namesOf(q.source.State().Indexes) }

// Keys iterates over the keys of all objects.
func (q *queries[T]) Keys() iter.Seq[types.NamespacedName] {
	return func(yield func(types.NamespacedName) bool) { keys[T](&q.source, yield) }
}

// Entries iterates over all objects with their keys and versions.
func (q *queries[T]) Entries() iter.Seq[Entry[T]] {
	return func(yield func(Entry[T]) bool) { entries(&q.source, yield) }
}

// All iterates over all objects and their keys.
func (q *queries[T]) All() iter.Seq2[types.NamespacedName, T] { return q.Namespace("") }

// Namespace iterates over the objects in one namespace. As in Kubernetes, ""
// (metav1.NamespaceAll) means all objects.
func (q *queries[T]) Namespace(namespace string) iter.Seq2[types.NamespacedName, T] {
	return func(yield func(types.NamespacedName, T) bool) { objects(&q.source, "", namespace, yield) }
}

// Namespaces iterates over the namespaces that have objects, with the number of objects in each.
// Its time grows with the number of objects, because it counts them.
func (q *queries[T]) Namespaces() iter.Seq2[string, int] {
	return func(yield func(string, int) bool) { q.source.Values("", yield) }
}

// Index is one index of a store or a snapshot. Its iterators do not look up the name again, and
// allocate nothing.
type Index[T any] struct {
	source *versions.Source
	name   string
}

// Index returns the index of this name. The error is [ErrNoIndex]. If the index is removed later,
// its iterators yield nothing.
func (q *queries[T]) Index(name string) (Index[T], error) {
	return Index[T]{&q.source, name}, requireIndex(&q.source, name)
}

// Having iterates over the objects that have this value in the index. An unknown value has no
// objects, and is not an error (IX-8).
func (x Index[T]) Having(value string) iter.Seq2[types.NamespacedName, T] {
	return func(yield func(types.NamespacedName, T) bool) { objects(x.source, x.name, value, yield) }
}

// Values iterates over the values of the index that objects have (IX-4), with the number of objects
// for each value. Its time grows with the number of objects, because it counts them.
func (x Index[T]) Values() iter.Seq2[string, int] {
	return func(yield func(string, int) bool) { x.source.Values(x.name, yield) }
}

// ByIndex is [Index.Having] for the index of this name. The error is [ErrNoIndex]. A loop over the
// result allocates once, because the compiler does not inline an iterator that is returned together
// with an error. For many calls, use [Index.Having].
func (q *queries[T]) ByIndex(name, value string) (iter.Seq2[types.NamespacedName, T], error) {
	return func(yield func(types.NamespacedName, T) bool) { objects(&q.source, name, value, yield) }, requireIndex(&q.source, name)
}

// IndexValues is [Index.Values] for the index of this name. The error is [ErrNoIndex].
func (q *queries[T]) IndexValues(name string) (iter.Seq2[string, int], error) {
	x, err := q.Index(name)
	return x.Values(), err
}

// The loops of the iterators are separate functions, so that the compiler inlines the methods that
// return the iterators: TestReadingAllocatesNothingPerObject.

func objects[T any](s *versions.Source, name, value string, yield func(types.NamespacedName, T) bool) {
	view := s.Enter()
	defer s.Leave(view)
	slots, term := s.Walk(view, name, value)
	revision := view.Revision
	for i := range slots {
		if r := slots[i].Load(); r != nil {
			if v := r.At(revision); v.In(term) && !yield(r.Key, objectOf[T](v)) {
				return
			}
		}
	}
}

func entries[T any](s *versions.Source, yield func(Entry[T]) bool) {
	view := s.Enter()
	defer s.Leave(view)
	slots, all := s.Walk(view, "", "")
	revision := view.Revision
	for i := range slots {
		if r := slots[i].Load(); r != nil {
			if v := r.At(revision); v.In(all) && !yield(Entry[T]{r.Key, objectOf[T](v), v.ResourceVersion, v.UIDHash}) {
				return
			}
		}
	}
}

func keys[T any](s *versions.Source, yield func(types.NamespacedName) bool) {
	objects(s, "", "", func(key types.NamespacedName, _ T) bool { return yield(key) })
}

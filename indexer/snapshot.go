package indexer

import (
	"iter"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/indexer/internal/versions"
)

// Snapshot is the content of a store at one moment, with its indexes and its resourceVersion. It
// never changes, and any number of goroutines may read it. [Reader.Snapshot] makes one, in constant
// time.
//
// While a snapshot exists, the store keeps the old versions of changed and deleted objects that the
// snapshot sees. It keeps no version that no snapshot sees. The garbage collector releases a
// snapshot that is no longer reachable; [Snapshot.Release] releases it at once.
type Snapshot[T any] struct {
	queries[T]
	hold versions.Hold
}

// Snapshot returns the current content of the store.
func (r *Reader[T]) Snapshot() *Snapshot[T] {
	s := new(Snapshot[T])
	s.source = s.hold.Take(r.source.Engine)
	return s
}

// Release ends the use of the snapshot, so that the store can drop the old versions at once. It may
// be called more than once. All other methods panic if they are called during or after Release.
func (s *Snapshot[T]) Release() { s.hold.Release(s.source.Engine) }

// Sorted collects the objects of an iterator, and yields them in the order of namespace and name,
// for output that people read:
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

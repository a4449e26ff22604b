package indexer

import (
	"iter"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/indexer/internal/versions"
)

// Snapshot is the content of a store at one moment, with its indexes and its
// resourceVersion. It never changes, and may be kept and read by any number of
// goroutines. [Reader.Snapshot] makes one, in a time that does not depend on how
// much is stored.
//
// As long as there is a snapshot, the store keeps what it sees: of each object
// that was changed or deleted since, the version from then, and never one that no
// snapshot sees. A snapshot that is no longer reachable is released by the
// garbage collector; [Snapshot.Release] does it at once.
type Snapshot[T any] struct {
	reading[T]
	own versions.Hold
}

// Snapshot returns the current content of the store.
func (r *Reader[T]) Snapshot() *Snapshot[T] {
	s := new(Snapshot[T])
	s.source = s.own.Take(r.source.Engine)
	return s
}

// Release ends the use of the snapshot, so that the store need not keep what it
// sees until the garbage collector finds that it is gone. It may be called more
// than once, but while or after it is called nothing else may be: that panics.
func (s *Snapshot[T]) Release() { s.own.Release(s.source.Engine) }

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

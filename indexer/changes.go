package indexer

import (
	"iter"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/indexer/internal/versions"
)

// Change is the difference of one object between two snapshots. Old is nil if the object is new,
// and New is nil if the object was deleted.
type Change[T any] struct {
	Key      types.NamespacedName
	Old, New *Entry[T]
}

// Changes iterates over the changes from an older snapshot of the same store to this one, in no
// particular order. Deletions are included. Changes yields each key once, however often it changed
// in between. It omits a key that was created and deleted in between. A collection that is derived
// from a store can use Changes to follow the store:
//
//	next := store.Snapshot()
//	for change := range next.Changes(last) { ... }
//	last.Release()
//	last = next
//
// The older state must be a snapshot, because from a resourceVersion alone the store could not say
// which objects were deleted since then. To resume after a restart of the process, see package
// informer/warmstart, which saves the store, and notifies handlers of the changes.
//
// Time and memory grow with the number of writes since the older snapshot, not with the size of the
// store. The caller must not release the two snapshots before the loop ends. At the beginning of
// the loop, writers wait for a moment. Changes panics if the snapshots are of different stores. It
// yields nothing if the other snapshot is not older.
func (s *Snapshot[T]) Changes(since *Snapshot[T]) iter.Seq[Change[T]] {
	if s.source.Engine != since.source.Engine {
		panic("indexer: Changes needs two snapshots of the same store")
	}
	return func(yield func(Change[T]) bool) {
		from, to := since.source.Enter(), s.source.Enter()
		defer s.source.Leave(to)
		defer since.source.Leave(from)
		for _, c := range s.source.Engine.Changes(from, to) {
			change := Change[T]{Key: c.Record.Key, Old: entryOrNil[T](c.Record.Key, c.Old), New: entryOrNil[T](c.Record.Key, c.Record.At(to.Revision))}
			if (change.Old != nil || change.New != nil) && !yield(change) {
				return
			}
		}
	}
}

// entryOrNil returns a version as an Entry, or nil if the version has no object.
func entryOrNil[T any](key types.NamespacedName, v *versions.Version) *Entry[T] {
	if v.OrNil() == nil {
		return nil
	}
	return &Entry[T]{key, objectOf[T](v), v.ResourceVersion, v.UIDHash}
}

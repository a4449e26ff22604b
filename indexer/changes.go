package indexer

import (
	"iter"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/indexer/internal/versions"
)

// Change is how one object differs between two snapshots. Old is nil where there
// was none, New where there is none any more; one of them is set.
type Change[T any] struct {
	Key      types.NamespacedName
	Old, New *Entry[T]
}

// Changes iterates over what changed from an older snapshot of the same store to this
// one, deletes included. Each key comes once, whatever happened to it in between, in no
// order; a key that came and went does not come at all. So a collection that is derived
// from a store keeps up with it:
//
//	next := store.Snapshot()
//	for change := range next.Changes(last) { ... }
//	last.Release()
//	last = next
//
// So a position is a snapshot rather than a resourceVersion: from a mere number the
// store could not tell which objects were deleted since. To go on after a restart of
// the process, package informer/warmstart keeps the store, and handlers are told what
// has changed.
//
// It takes time and memory for what was written since, not for what is stored.
// The store needs no log for it, and forgets nothing, as it keeps what the older
// snapshot sees anyway. Both must be held until the loop ends. Writers have to wait
// for the moment in which the loop begins.
//
// It panics if the snapshots are of different stores. There are no changes since a
// snapshot that is not older.
func (s *Snapshot[T]) Changes(since *Snapshot[T]) iter.Seq[Change[T]] {
	if s.source.Engine != since.source.Engine {
		panic("indexer: Changes between snapshots of different stores")
	}
	return func(yield func(Change[T]) bool) {
		from, to := since.source.Enter(), s.source.Enter()
		defer s.source.Leave(to)
		defer since.source.Leave(from)
		for _, c := range s.source.Engine.Changes(from, to) {
			change := Change[T]{Key: c.Record.Key, Old: exported[T](c.Record.Key, c.Old), New: exported[T](c.Record.Key, c.Record.At(to.Revision))}
			if (change.Old != nil || change.New != nil) && !yield(change) {
				return
			}
		}
	}
}

// exported returns the part of a version that users may see, nil if there is no object.
func exported[T any](key types.NamespacedName, v *versions.Version) *Entry[T] {
	if v.OrNil() == nil {
		return nil
	}
	return &Entry[T]{key, objectOf[T](v), v.ResourceVersion, v.UIDHash}
}

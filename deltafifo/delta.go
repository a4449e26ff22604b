package deltafifo

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"
)

// Delta is one change of one object.
type Delta[T any] struct {
	Type DeltaType

	// FinalStateUnknown marks a tombstone: a Deleted without an event, because a Replace did not
	// list the key. Object is then the last known state, which may differ from the object's last
	// state. A Deleted whose object was undecodable is a tombstone as well: it has the
	// ResourceVersion of the deletion and no Object.
	FinalStateUnknown bool

	// Restored marks an object of a Restore. Its state may differ from the known state although
	// both have the same ResourceVersion.
	Restored bool

	// replacesKnown marks a Deleted that stands for an undecodable object. Such a delta is the
	// first of its stack, and never reaches a batch.
	replacesKnown replacesKnown

	// Object is the object after the change. For Deleted it is the last known state.
	Object T

	// ResourceVersion is the version of Object. For Deleted it is the version of the deletion, and
	// for a tombstone the version of the last known state.
	ResourceVersion string

	// UIDHash is listwatch.Item.UIDHash, or 0 if it is unknown. It distinguishes objects that had
	// the same key, one after the other. If two consecutive states have different hashes, the first
	// object was deleted in between, without an event.
	UIDHash uint64
}

// DeltaType is the kind of change that a [Delta] reports. The zero value is not a valid type.
type DeltaType uint8

// These are the types of deltas. A consumer that keeps a store treats all types except Deleted
// alike: the object exists, and this is its state (PD-2).
const (
	// Added is queued by Add.
	Added DeltaType = iota + 1
	// Updated is queued by Update.
	Updated
	// Deleted is queued by Delete, or is a tombstone after a Replace.
	Deleted
	// Replaced is queued by Replace: the object was listed, and its state may or may not be new.
	Replaced
	// Sync is added by Pop after a Resync: the object has not changed, and handlers get it again.
	Sync
)

// String returns the name of the type, "Added" and so on.
func (t DeltaType) String() string {
	switch t {
	case Added:
		return "Added"
	case Updated:
		return "Updated"
	case Deleted:
		return "Deleted"
	case Replaced:
		return "Replaced"
	case Sync:
		return "Sync"
	default:
		return fmt.Sprintf("DeltaType(%d)", uint8(t))
	}
}

// Stack has the deltas of one key since the last Pop. It always has at least one delta.
type Stack[T any] struct {
	Key    types.NamespacedName
	Deltas []Delta[T] // oldest first
}

// Newest returns the newest delta. The object exists, unless the type is Deleted.
func (s Stack[T]) Newest() Delta[T] { return s.Deltas[len(s.Deltas)-1] }

// Batch is everything that was pending at a Pop. The consumer owns it.
type Batch[T any] struct {
	// Stacks has one stack per key, in the order of each key's first pending delta (DF-2). At the
	// end follow the stacks that Pop adds, in no particular order: tombstones of keys that
	// vanished, and Syncs.
	Stacks []Stack[T]

	// Number is the number of the batch. Later batches have higher numbers.
	Number int

	// ResourceVersion is the newest version that the producer has reported, by an event, a Replace
	// or a Bookmark. A consumer that has applied this batch has everything through this version. ""
	// means that the producer has not reported a version yet. After a Replace without a version,
	// Adds do not count; see FIFO.Replace.
	ResourceVersion string

	// Replaced is true if a Replace is part of the batch. The consumer should then apply the batch
	// as one step for the readers of its store.
	Replaced bool

	// Resynced is true if a Resync is part of the batch. Even then, the batch has no Sync deltas if
	// all known objects have changed.
	Resynced bool

	// Initial is true if the first Replace of the queue is part of the batch. Exactly one
	// batch of a queue is Initial (DF-30). It may have no stacks.
	Initial bool
}

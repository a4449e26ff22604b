package deltafifo

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"
)

// Delta is one change of one object.
type Delta[T any] struct {
	Type DeltaType

	// FinalStateUnknown marks a tombstone: a Deleted without an event. A Replace did not
	// list the key, so Object is the last known state, and may differ from the last state
	// that the object had. A Deleted of the producer whose object could not be read is a
	// tombstone as well: it has no Object, and the ResourceVersion of the deletion.
	FinalStateUnknown bool

	// Restored marks an object of a Restore: it may differ from the known one although
	// both have the same ResourceVersion.
	Restored bool

	// unread marks a Deleted that stands for an object that could not be read. Such a
	// delta is the first of its stack, and is in no batch.
	unread unread

	// Object is the object after the change; for Deleted its last known state.
	Object T

	// ResourceVersion is the version of Object. For Deleted it is the version of
	// the deletion, and for a tombstone that of the last known state.
	ResourceVersion string

	// UIDHash is that of listwatch.Item: it tells apart the objects that had the key, one
	// after another; 0 means unknown. If two states that follow each other have different
	// ones, the first object was deleted in between, and the producer did not hear of it.
	UIDHash uint64
}

// DeltaType says what a [Delta] reports. The zero value is no valid type.
type DeltaType uint8

// The types of deltas. A consumer that keeps a store treats all but Deleted
// alike: the object is there now, and this is its state (PD-2).
const (
	// Added comes from Add.
	Added DeltaType = iota + 1
	// Updated comes from Update.
	Updated
	// Deleted comes from Delete, or is a tombstone that a Replace left behind.
	Deleted
	// Replaced comes from Replace: the object was listed, with a state that may
	// or may not be new.
	Replaced
	// Sync comes from Resync: the object has not changed, and its handlers see it again.
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

// Stack has the deltas of one key since the last Pop. It is never empty.
type Stack[T any] struct {
	Key    types.NamespacedName
	Deltas []Delta[T] // oldest first
}

// Newest returns the newest delta, which says whether the object is there, and its state.
func (s Stack[T]) Newest() Delta[T] { return s.Deltas[len(s.Deltas)-1] }

// Batch is everything that was pending at a Pop. The consumer owns it.
type Batch[T any] struct {
	// Stacks has one stack per key, in order of each key's first pending delta (DF-2).
	// Stacks that Pop adds follow at the end, in no particular order: tombstones of keys
	// that vanished, and Syncs.
	Stacks []Stack[T]

	// Turn is the number of the batch. Later batches have higher ones.
	Turn int

	// ResourceVersion is the newest version that the producer told, by an event, a Replace
	// or a Bookmark. With this batch applied, the consumer has everything through it. ""
	// means that the producer has told none yet. An Add after a Replace without a version
	// does not count, see FIFO.Replace.
	ResourceVersion string

	// Replaced says that a Replace is part of the batch. The consumer should apply it as
	// one step for the readers of its store.
	Replaced bool

	// Resynced says that a Resync is part of the batch. The batch may have no Sync deltas,
	// if all known objects have changed.
	Resynced bool

	// Initial says that the first Replace of the queue is part of the batch. Exactly one
	// batch of a queue is Initial (DF-30). It may have no stacks.
	Initial bool
}

package cache

import "errors"

// ErrFIFOClosed is the error of Pop when the queue is closed and empty.
var ErrFIFOClosed = errors.New("DeltaFIFO: manipulating with closed queue")

// ErrZeroLengthDeltasObject is the error for the key of empty Deltas.
var ErrZeroLengthDeltasObject = errors.New("0 length Deltas object; can't get key")

// DeltaType is the kind of a change.
type DeltaType string

const (
	Added   DeltaType = "Added"
	Updated DeltaType = "Updated"
	Deleted DeltaType = "Deleted"
	// Replaced is for an object of a list.
	Replaced DeltaType = "Replaced"
	// ReplacedAll is for a whole list; its object is a [ReplacedAllInfo].
	ReplacedAll DeltaType = "ReplacedAll"
	// Sync is for an object that is delivered again by a resync.
	Sync DeltaType = "Sync"
	// SyncAll makes the consumer process all objects again; its object is a [SyncAllInfo].
	SyncAll DeltaType = "SyncAll"
	// Bookmark is for a version without a change; its object is a [BookmarkInfo].
	Bookmark DeltaType = "Bookmark"
)

// Delta is one change of an object. The Object of a deletion may be a [DeletedFinalStateUnknown].
type Delta struct {
	Type   DeltaType
	Object interface{}
}

// Deltas are the changes of one object, oldest first.
type Deltas []Delta

// Oldest returns the first delta, or nil.
func (d Deltas) Oldest() *Delta {
	if len(d) == 0 {
		return nil
	}
	return &d[0]
}

// Newest returns the last delta, or nil.
func (d Deltas) Newest() *Delta {
	if len(d) == 0 {
		return nil
	}
	return &d[len(d)-1]
}

// DeletedFinalStateUnknown is a tombstone. It stands for a deleted object whose watch event was
// missed: a later list no longer had the object. Obj is the last known state, which may be
// outdated, or nil.
type DeletedFinalStateUnknown struct {
	Key string
	Obj interface{}
}

// ReplacedAllInfo is the object of ReplacedAll: a whole list.
type ReplacedAllInfo struct {
	ResourceVersion string
	Objects         []interface{}
}

// SyncAllInfo is the object of SyncAll.
type SyncAllInfo struct{}

// BookmarkInfo is the object of Bookmark.
type BookmarkInfo struct {
	ResourceVersion string
}

// KeyLister lists keys.
type KeyLister interface {
	ListKeys() []string
}

// KeyGetter finds objects by key.
type KeyGetter interface {
	GetByKey(key string) (value interface{}, exists bool, err error)
}

// KeyListerGetter has the objects that the consumer has. Usually it is the consumer's store.
type KeyListerGetter interface {
	KeyLister
	KeyGetter
}

// PopProcessFunc is called by Pop with the item that Pop removes. It must not call methods of the
// queue. isInInitialList is true if the queue had not synced before.
type PopProcessFunc func(obj interface{}, isInInitialList bool) error

// ProcessBatchFunc is called by PopBatch with deltas of different keys.
type ProcessBatchFunc func(deltas []Delta, isInInitialList bool) error

// Queue is a ReflectorStore from which a consumer takes items.
type Queue interface {
	ReflectorStore
	// Pop waits for an item, removes it, and passes it to the function. It returns the item and the
	// function's error. The error is ErrFIFOClosed if the queue is closed and empty.
	Pop(PopProcessFunc) (interface{}, error)
	// HasSynced reports whether the first list was popped, or the queue received a change before
	// any list.
	HasSynced() bool
	// HasSyncedChecker returns HasSynced as a DoneChecker.
	HasSyncedChecker() DoneChecker
	// Close makes Pop return an error once all items are popped.
	Close()
}

// QueueWithBatch is a Queue that passes on several deltas at once.
type QueueWithBatch interface {
	Queue
	// PopBatch calls processBatch with several deltas, or processSingle with [Deltas] that have a
	// single delta.
	PopBatch(processBatch ProcessBatchFunc, processSingle PopProcessFunc) error
}

package cache

import "errors"

// ErrFIFOClosed is what Pop of a closed and empty queue returns.
var ErrFIFOClosed = errors.New("DeltaFIFO: manipulating with closed queue")

// ErrZeroLengthDeltasObject says that Deltas without a delta have no key.
var ErrZeroLengthDeltasObject = errors.New("0 length Deltas object; can't get key")

// DeltaType is what has happened to an object.
type DeltaType string

const (
	Added   DeltaType = "Added"
	Updated DeltaType = "Updated"
	Deleted DeltaType = "Deleted"
	// Replaced is of an object of a list.
	Replaced DeltaType = "Replaced"
	// ReplacedAll is of a whole list; its object is a [ReplacedAllInfo].
	ReplacedAll DeltaType = "ReplacedAll"
	// Sync is of an object that is handed out again.
	Sync DeltaType = "Sync"
	// SyncAll asks to hand out all objects again; its object is a [SyncAllInfo].
	SyncAll DeltaType = "SyncAll"
	// Bookmark is of a version without a change; its object is a [BookmarkInfo].
	Bookmark DeltaType = "Bookmark"
)

// Delta is one event of an object. The Object of a deletion may be a [DeletedFinalStateUnknown].
type Delta struct {
	Type   DeltaType
	Object interface{}
}

// Deltas are the events of one object, the oldest first.
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

// DeletedFinalStateUnknown is the object of a deletion that no event told of: a list did not have the object any more.
// Obj is its last known state, which may be old, or nil.
type DeletedFinalStateUnknown struct {
	Key string
	Obj interface{}
}

// ReplacedAllInfo is a list.
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

// KeyGetter finds an object by key.
type KeyGetter interface {
	GetByKey(key string) (value interface{}, exists bool, err error)
}

// KeyListerGetter is what a queue knows of the objects that were popped before: usually the store of its consumer.
type KeyListerGetter interface {
	KeyLister
	KeyGetter
}

// PopProcessFunc is called by Pop with what it takes out. It must not call the queue. isInInitialList says that the
// queue had not synced.
type PopProcessFunc func(obj interface{}, isInInitialList bool) error

// ProcessBatchFunc is called by PopBatch with deltas of different keys.
type ProcessBatchFunc func(deltas []Delta, isInInitialList bool) error

// Queue is a ReflectorStore whose content is taken out again.
type Queue interface {
	ReflectorStore
	// Pop waits until there is something, takes it out, and returns it with the error of process. The error is
	// ErrFIFOClosed when the queue is closed and empty.
	Pop(PopProcessFunc) (interface{}, error)
	// HasSynced says that the first list was popped, or that there was a change before it.
	HasSynced() bool
	// HasSyncedChecker tells when HasSynced becomes true.
	HasSyncedChecker() DoneChecker
	// Close lets Pop return once all is popped.
	Close()
}

// QueueWithBatch is a Queue that hands out several deltas at once.
type QueueWithBatch interface {
	Queue
	// PopBatch calls one of the functions: the first with several deltas, the second with [Deltas] of a single one.
	PopBatch(processBatch ProcessBatchFunc, processSingle PopProcessFunc) error
}

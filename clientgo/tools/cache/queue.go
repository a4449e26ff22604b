package cache

import (
	"sync"

	"k8s.io/klog/v2"
)

// syncTracker records whether the items of a queue's first list have been popped. The queue's lock
// guards all fields except synced.
type syncTracker struct {
	populated bool // the queue has received its first list, or a change
	remaining int  // items of the first list that are not popped yet
	once      sync.Once
	synced    chan struct{}
}

func newSyncTracker() syncTracker { return syncTracker{synced: make(chan struct{})} }

// populateLocked sets the size of the first list. Later calls have no effect.
func (g *syncTracker) populateLocked(count int) {
	if !g.populated {
		g.populated = true
		g.remaining = count
		g.checkLocked()
	}
}

func (g *syncTracker) poppedLocked(count int) {
	if g.remaining > 0 {
		g.remaining -= min(count, g.remaining)
		g.checkLocked()
	}
}

func (g *syncTracker) checkLocked() {
	if g.syncedLocked() {
		g.once.Do(func() { close(g.synced) })
	}
}

func (g *syncTracker) syncedLocked() bool { return g.populated && g.remaining == 0 }

// queueKey returns the key of an object, of a tombstone, or of Deltas.
func queueKey(keyFunc KeyFunc, obj interface{}) (string, error) {
	if deltas, ok := obj.(Deltas); ok {
		if len(deltas) == 0 {
			return "", KeyError{Obj: obj, Err: ErrZeroLengthDeltasObject}
		}
		obj = deltas.Newest().Object
	}
	if tombstone, ok := obj.(DeletedFinalStateUnknown); ok {
		return tombstone.Key, nil
	}
	key, err := keyFunc(obj)
	if err != nil {
		return "", KeyError{Obj: obj, Err: err}
	}
	return key, nil
}

func queueLogger(logger *klog.Logger, name string) klog.Logger {
	if logger == nil {
		return klog.LoggerWithName(klog.Background(), name)
	}
	return klog.LoggerWithName(*logger, name)
}

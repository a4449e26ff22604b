package cache

import (
	"sync"

	"k8s.io/klog/v2"
)

// gate says when the first population of a queue was popped. Its queue's lock guards it, but for the channel.
type gate struct {
	populated bool // there was a call already
	remaining int  // of the first population
	once      sync.Once
	synced    chan struct{}
}

func newGate() gate { return gate{synced: make(chan struct{})} }

// populateLocked is for the first call; later calls change nothing.
func (g *gate) populateLocked(count int) {
	if !g.populated {
		g.populated = true
		g.remaining = count
		g.checkLocked()
	}
}

func (g *gate) poppedLocked(count int) {
	if g.remaining > 0 {
		g.remaining -= min(count, g.remaining)
		g.checkLocked()
	}
}

func (g *gate) checkLocked() {
	if g.syncedLocked() {
		g.once.Do(func() { close(g.synced) })
	}
}

func (g *gate) syncedLocked() bool { return g.populated && g.remaining == 0 }

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

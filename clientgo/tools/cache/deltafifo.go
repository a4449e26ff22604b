package cache

import (
	"fmt"
	"sync"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
)

// DeltaFIFOOptions are the settings of a DeltaFIFO. The zero value works.
type DeltaFIFOOptions struct {
	// Logger logs errors that have no caller to return to. Defaults to klog.Background().
	Logger *klog.Logger
	// Name is the queue's name in logs. Defaults to "DeltaFIFO".
	Name string
	// KeyFunction defaults to [MetaNamespaceKeyFunc].
	KeyFunction KeyFunc
	// KnownObjects has the objects that the consumer has. Replace and Delete look up keys in it.
	// May be nil.
	KnownObjects KeyListerGetter
	// EmitDeltaTypeReplaced makes Replace queue Replaced in place of Sync.
	EmitDeltaTypeReplaced bool
	// Transformer changes objects before they are queued. May be nil.
	Transformer TransformFunc
}

// DeltaFIFO is a queue of keys in the order of their first change. Each key has all its changes
// since its last Pop.
//
// A DeltaFIFO does not use kinform's queue, which merges the changes of a key, is typed, and calls
// no consumer function under its lock. In a DeltaFIFO each change is one delta, Pop's function runs
// with the lock held, and the caller supplies the known objects.
type DeltaFIFO struct {
	name        string
	logger      klog.Logger
	keyFunc     KeyFunc
	known       KeyListerGetter
	replaced    DeltaType
	transformer TransformFunc

	mu      sync.Mutex // guards following
	cond    sync.Cond
	items   map[string]Deltas
	queue   []string // the keys of items, each once
	tracker syncTracker
	closed  bool
}

var (
	_ Queue = &DeltaFIFO{}
)

// NewDeltaFIFO returns an empty queue whose Replace queues Sync.
func NewDeltaFIFO(keyFunc KeyFunc, knownObjects KeyListerGetter) *DeltaFIFO {
	return NewDeltaFIFOWithOptions(DeltaFIFOOptions{KeyFunction: keyFunc, KnownObjects: knownObjects})
}

// NewDeltaFIFOWithOptions returns an empty queue.
func NewDeltaFIFOWithOptions(opts DeltaFIFOOptions) *DeltaFIFO {
	f := &DeltaFIFO{name: opts.Name, keyFunc: opts.KeyFunction, known: opts.KnownObjects, replaced: Sync,
		transformer: opts.Transformer, items: map[string]Deltas{}, tracker: newSyncTracker()}
	if f.name == "" {
		f.name = "DeltaFIFO"
	}
	if f.keyFunc == nil {
		f.keyFunc = MetaNamespaceKeyFunc
	}
	if opts.EmitDeltaTypeReplaced {
		f.replaced = Replaced
	}
	f.logger = queueLogger(opts.Logger, f.name)
	f.cond.L = &f.mu
	return f
}

// KeyOf returns the key of an object, of a tombstone, or of Deltas. It returns an error of the key
// function without a KeyError around it.
func (f *DeltaFIFO) KeyOf(obj interface{}) (string, error) {
	key, err := queueKey(f.keyFunc, obj)
	if wrapped, ok := err.(KeyError); ok && wrapped.Err != ErrZeroLengthDeltasObject {
		err = wrapped.Err
	}
	return key, err
}

// Name returns the queue's name in logs.
func (f *DeltaFIFO) Name() string { return f.name }

// Transformer returns the Transformer of the options.
func (f *DeltaFIFO) Transformer() TransformFunc { return f.transformer }

// Done is closed when the queue has synced.
func (f *DeltaFIFO) Done() <-chan struct{} { return f.tracker.synced }

// HasSynced reports whether the keys of the first list were popped, or the queue received a change
// before any list.
func (f *DeltaFIFO) HasSynced() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.tracker.syncedLocked()
}

// HasSyncedChecker returns the queue.
func (f *DeltaFIFO) HasSyncedChecker() DoneChecker { return f }

// Close makes Pop return an error once all keys are popped.
func (f *DeltaFIFO) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	f.cond.Broadcast()
}

// IsClosed reports whether Close was called.
func (f *DeltaFIFO) IsClosed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.closed
}

// Add queues Added.
func (f *DeltaFIFO) Add(obj interface{}) error { return f.change(Added, obj) }

// Update queues Updated.
func (f *DeltaFIFO) Update(obj interface{}) error { return f.change(Updated, obj) }

func (f *DeltaFIFO) change(kind DeltaType, obj interface{}) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tracker.populateLocked(0)
	return f.queueLocked(kind, kind, obj)
}

// Delete queues Deleted if the key is pending or known.
func (f *DeltaFIFO) Delete(obj interface{}) error {
	key, err := queueKey(f.keyFunc, obj)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tracker.populateLocked(0)
	if _, pending := f.items[key]; !pending {
		if f.known == nil {
			return nil
		}
		if _, exists, err := f.known.GetByKey(key); err == nil && !exists {
			return nil
		}
	}
	return f.queueLocked(Deleted, Deleted, obj)
}

// queueLocked appends a delta of type kind. cause is Sync only for objects of a Resync, which are
// transformed already. The type Sync alone does not show this, because objects of a list may also
// be queued as Sync.
func (f *DeltaFIFO) queueLocked(kind, cause DeltaType, obj interface{}) error {
	key, err := queueKey(f.keyFunc, obj)
	if err != nil {
		return err
	}
	if _, tombstone := obj.(DeletedFinalStateUnknown); f.transformer != nil && !tombstone && cause != Sync {
		if obj, err = f.transformer(obj); err != nil {
			return err
		}
	}
	deltas, pending := f.items[key]
	if newest := deltas.Newest(); newest != nil && newest.Type == Deleted && kind == Deleted {
		if _, tombstone := newest.Object.(DeletedFinalStateUnknown); tombstone {
			newest.Object = obj // of two deletions, keep the deletion with the final state
		}
		return nil
	}
	f.items[key] = append(deltas, Delta{Type: kind, Object: obj})
	if !pending {
		f.queue = append(f.queue, key)
		f.cond.Broadcast()
	}
	return nil
}

// Pop waits for a key and passes its [Deltas] to process, which runs with the queue locked.
func (f *DeltaFIFO) Pop(process PopProcessFunc) (interface{}, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(f.queue) == 0 {
		if f.closed {
			return nil, ErrFIFOClosed
		}
		f.cond.Wait()
	}
	initial := !f.tracker.syncedLocked()
	key := f.queue[0]
	f.queue[0] = ""
	f.queue = f.queue[1:]
	deltas := f.items[key]
	delete(f.items, key)
	f.tracker.poppedLocked(1)
	err := process(deltas, initial)
	return deltas, err
}

// Replace queues each object, then a Deleted for each pending or known key that is not in the list.
func (f *DeltaFIFO) Replace(list []interface{}, _ string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	keys := make(map[string]struct{}, len(list))
	for _, obj := range list {
		key, err := queueKey(f.keyFunc, obj)
		if err != nil {
			return err
		}
		keys[key] = struct{}{}
		if err := f.queueLocked(f.replaced, Replaced, obj); err != nil {
			return fmt.Errorf("couldn't enqueue object: %w", err)
		}
	}
	gone := 0
	for key, deltas := range f.items {
		if _, ok := keys[key]; ok {
			continue
		}
		last := deltas.Newest().Object
		if tombstone, ok := last.(DeletedFinalStateUnknown); ok {
			last = tombstone.Obj
		}
		gone++
		if err := f.queueLocked(Deleted, Deleted, DeletedFinalStateUnknown{Key: key, Obj: last}); err != nil {
			return err
		}
	}
	if f.known != nil {
		for _, key := range f.known.ListKeys() {
			if _, ok := keys[key]; ok || len(f.items[key]) > 0 {
				continue
			}
			gone++
			tombstone := DeletedFinalStateUnknown{Key: key, Obj: lookup(f.logger, f.known, key)}
			if err := f.queueLocked(Deleted, Deleted, tombstone); err != nil {
				return err
			}
		}
	}
	f.tracker.populateLocked(len(keys) + gone)
	return nil
}

// lookup returns a known object. It logs an error and returns nil.
func lookup(logger klog.Logger, known KeyGetter, key string) interface{} {
	obj, exists, err := known.GetByKey(key)
	switch {
	case err != nil:
		utilruntime.HandleErrorWithLogger(logger, err, "A known object could not be looked up", "key", key)
		return nil
	case !exists:
		logger.Info("A known object is gone", "key", key)
		return nil
	}
	return obj
}

// Resync queues Sync for each known object that is not pending.
func (f *DeltaFIFO) Resync() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.known == nil {
		return nil
	}
	for _, key := range f.known.ListKeys() {
		obj := lookup(f.logger, f.known, key)
		if obj == nil {
			continue
		}
		// Compare the key that the key function returns, because the object would be queued under
		// that key.
		id, err := queueKey(f.keyFunc, obj)
		if err != nil {
			return err
		}
		if len(f.items[id]) > 0 {
			continue
		}
		if err := f.queueLocked(Sync, Sync, obj); err != nil {
			return fmt.Errorf("couldn't queue object: %w", err)
		}
	}
	return nil
}

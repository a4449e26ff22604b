package cache

import "sync"

// FIFO is a queue of objects, in the order in which their keys were added. It has the newest object
// of each key. Pop skips deleted objects.
//
// kinform has no equivalent: its queue contains changes, and a FIFO contains objects.
type FIFO struct {
	keyFunc KeyFunc

	mu    sync.Mutex // guards following
	cond  sync.Cond
	items map[string]interface{}
	// queue has the keys of the map items and the keys of deleted objects. A key that is added
	// again after its deletion is in the queue twice. As in client-go, Pop uses the first place.
	queue   []string
	tracker syncTracker
	closed  bool
}

var _ Queue = &FIFO{}

// NewFIFO returns an empty queue.
func NewFIFO(keyFunc KeyFunc) *FIFO {
	f := &FIFO{keyFunc: keyFunc, items: map[string]interface{}{}, tracker: newSyncTracker()}
	f.cond.L = &f.mu
	return f
}

// Name returns "FIFO".
func (f *FIFO) Name() string { return "FIFO" }

// Done is closed when the queue has synced.
func (f *FIFO) Done() <-chan struct{} { return f.tracker.synced }

// HasSynced reports whether the keys of the first list were popped, or the queue received a change
// before any list.
func (f *FIFO) HasSynced() bool { return IsDone(f) }

// HasSyncedChecker returns the queue.
func (f *FIFO) HasSyncedChecker() DoneChecker { return f }

// Close makes Pop return an error once all objects are popped.
func (f *FIFO) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	f.cond.Broadcast()
}

// IsClosed reports whether Close was called.
func (f *FIFO) IsClosed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.closed
}

// Add queues an object. An object with the same key is replaced and keeps its place in the queue.
func (f *FIFO) Add(obj interface{}) error {
	key, err := f.keyFunc(obj)
	if err != nil {
		return KeyError{Obj: obj, Err: err}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tracker.populateLocked(0)
	f.tracker.checkLocked()
	f.putLocked(key, obj)
	f.cond.Broadcast()
	return nil
}

func (f *FIFO) putLocked(key string, obj interface{}) {
	if _, ok := f.items[key]; !ok {
		f.queue = append(f.queue, key)
	}
	f.items[key] = obj
}

// Update does the same as Add.
func (f *FIFO) Update(obj interface{}) error { return f.Add(obj) }

// Delete removes the object with the key of obj. The key stays in the queue. If an object with this
// key is added before Pop reaches the key, it takes the old place.
func (f *FIFO) Delete(obj interface{}) error {
	key, err := f.keyFunc(obj)
	if err != nil {
		return KeyError{Obj: obj, Err: err}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tracker.populateLocked(0)
	f.tracker.checkLocked()
	delete(f.items, key)
	return nil
}

// Pop waits for an object, removes it, and calls process with the queue locked. It returns the
// error of process, or [ErrFIFOClosed].
func (f *FIFO) Pop(process PopProcessFunc) (interface{}, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for {
		for len(f.queue) == 0 {
			if f.closed {
				return nil, ErrFIFOClosed
			}
			f.cond.Wait()
		}
		initial := !f.HasSynced()
		key := f.queue[0]
		f.queue[0] = ""
		f.queue = f.queue[1:]
		f.tracker.remaining = max(f.tracker.remaining-1, 0)
		item, exists := f.items[key]
		if !exists { // a deleted key does not complete the sync; the next object or change does
			continue
		}
		f.tracker.checkLocked()
		delete(f.items, key)
		return item, process(item, initial)
	}
}

// Replace replaces all objects of the queue.
func (f *FIFO) Replace(list []interface{}, resourceVersion string) error {
	keys := make([]string, len(list))
	distinct := make(map[string]struct{}, len(list))
	for i, obj := range list {
		key, err := f.keyFunc(obj)
		if err != nil {
			return KeyError{Obj: obj, Err: err}
		}
		keys[i] = key
		distinct[key] = struct{}{}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tracker.populateLocked(len(distinct))
	f.items = make(map[string]interface{}, len(list))
	f.queue = nil
	for i, obj := range list {
		f.putLocked(keys[i], obj)
	}
	f.cond.Broadcast()
	return nil
}

// Resync does nothing: every object is queued already.
func (f *FIFO) Resync() error { return nil }

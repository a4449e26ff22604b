package cache

import "sync"

// FIFO is a queue of objects in the order in which their keys came. Of each key it has the newest object; an object that
// is deleted is not handed out.
//
// kinform has none: its queue hands out what has happened to an object, a FIFO hands out the object.
type FIFO struct {
	keyFunc KeyFunc

	mu    sync.Mutex // guards following
	cond  sync.Cond
	items map[string]interface{}
	// queue has the keys of items, and those of objects that were deleted. An object that comes back has both its old
	// place and a new one, and the first to come is its turn, as in client-go.
	queue  []string
	gate   gate
	closed bool
}

var _ Queue = &FIFO{}

// NewFIFO returns an empty queue.
func NewFIFO(keyFunc KeyFunc) *FIFO {
	f := &FIFO{keyFunc: keyFunc, items: map[string]interface{}{}, gate: newGate()}
	f.cond.L = &f.mu
	return f
}

// Name returns "FIFO".
func (f *FIFO) Name() string { return "FIFO" }

// Done is closed when the queue has synced.
func (f *FIFO) Done() <-chan struct{} { return f.gate.synced }

// HasSynced says that the first list was popped, or that a change came before it.
func (f *FIFO) HasSynced() bool { return IsDone(f) }

// HasSyncedChecker returns the queue.
func (f *FIFO) HasSyncedChecker() DoneChecker { return f }

// Close lets Pop return when all is popped.
func (f *FIFO) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	f.cond.Broadcast()
}

// IsClosed says that Close was called.
func (f *FIFO) IsClosed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.closed
}

// Add queues an object. One with a key that is queued takes the other one's place.
func (f *FIFO) Add(obj interface{}) error {
	key, err := f.keyFunc(obj)
	if err != nil {
		return KeyError{Obj: obj, Err: err}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.gate.populateLocked(0)
	f.gate.checkLocked()
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

// Update is Add.
func (f *FIFO) Update(obj interface{}) error { return f.Add(obj) }

// Delete removes the object with the key of obj. If there is another one before the key's turn comes, it has its place.
func (f *FIFO) Delete(obj interface{}) error {
	key, err := f.keyFunc(obj)
	if err != nil {
		return KeyError{Obj: obj, Err: err}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.gate.populateLocked(0)
	f.gate.checkLocked()
	delete(f.items, key)
	return nil
}

// Pop waits for an object, takes it out, and calls process, with the queue locked. Its error is that of process, or
// [ErrFIFOClosed].
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
		f.gate.remaining = max(f.gate.remaining-1, 0)
		item, exists := f.items[key]
		if !exists { // it has synced with the next object, or the next change
			continue
		}
		f.gate.checkLocked()
		delete(f.items, key)
		return item, process(item, initial)
	}
}

// Replace makes these the only objects of the queue.
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
	f.gate.populateLocked(len(distinct))
	f.items = make(map[string]interface{}, len(list))
	f.queue = nil
	for i, obj := range list {
		f.putLocked(keys[i], obj)
	}
	f.cond.Broadcast()
	return nil
}

// Resync does nothing: what the queue has is queued.
func (f *FIFO) Resync() error { return nil }

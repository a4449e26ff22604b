package synctrack

import "sync"

// progress is closed when the source has synced and nothing that has started is to be finished.
type progress struct {
	name string
	done chan struct{}

	mu       sync.Mutex // guards following
	upstream bool
	closed   bool
}

func newProgress(name string) progress { return progress{name: name, done: make(chan struct{})} }

// closeLocked is told whether nothing is left to be finished.
func (p *progress) closeLocked(idle bool) {
	if p.upstream && idle && !p.closed {
		p.closed = true
		close(p.done)
	}
}

func (p *progress) hasSynced() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// SingleFileTracker is for objects that are finished in the order in which they come, so that counting them is enough.
// All methods are safe for concurrent use.
type SingleFileTracker struct {
	p     *progress
	count int64 // guarded by p.mu
}

// NewSingleFileTracker returns a tracker that has not synced. The name is for logs.
func NewSingleFileTracker(name string) *SingleFileTracker {
	p := newProgress(name)
	return &SingleFileTracker{p: &p}
}

// Start is to be called before an object of the initial list is worked on.
func (t *SingleFileTracker) Start() {
	t.p.mu.Lock()
	defer t.p.mu.Unlock()
	t.count++
}

// Finished is to be called after an object of the initial list was worked on. More calls than of Start are a mistake,
// on which it panics.
func (t *SingleFileTracker) Finished() {
	t.p.mu.Lock()
	defer t.p.mu.Unlock()
	t.count--
	if t.count < 0 {
		panic("synctrack: negative counter; this logic error means HasSynced may return incorrect value")
	}
	t.p.closeLocked(t.count == 0)
}

// UpstreamHasSynced is to be called when Start has been called for the whole of the initial list.
func (t *SingleFileTracker) UpstreamHasSynced() {
	t.p.mu.Lock()
	defer t.p.mu.Unlock()
	t.p.upstream = true
	t.p.closeLocked(t.count == 0)
}

// HasSynced says that each object of the initial list was worked on. It stays so.
func (t *SingleFileTracker) HasSynced() bool { return t.p.hasSynced() }

// Done returns a channel that is closed when HasSynced becomes true.
func (t *SingleFileTracker) Done() <-chan struct{} { return t.p.done }

// Name returns the name.
func (t *SingleFileTracker) Name() string { return t.p.name }

// AsyncTracker is for objects that several workers finish, in any order. All methods are safe for concurrent use.
type AsyncTracker[T comparable] struct {
	p       *progress
	waiting map[T]struct{} // guarded by p.mu
}

// NewAsyncTracker returns a tracker that has not synced. The name is for logs.
func NewAsyncTracker[T comparable](name string) *AsyncTracker[T] {
	p := newProgress(name)
	return &AsyncTracker[T]{p: &p, waiting: map[T]struct{}{}}
}

// Start is to be called before an object of the initial list is worked on. A key that has started and is not finished
// stays so.
func (t *AsyncTracker[T]) Start(key T) {
	t.p.mu.Lock()
	defer t.p.mu.Unlock()
	t.waiting[key] = struct{}{}
}

// Finished is to be called after an object of the initial list was worked on. For another one it does nothing.
func (t *AsyncTracker[T]) Finished(key T) {
	t.p.mu.Lock()
	defer t.p.mu.Unlock()
	delete(t.waiting, key)
	t.p.closeLocked(len(t.waiting) == 0)
}

// UpstreamHasSynced is to be called when Start has been called for the whole of the initial list.
func (t *AsyncTracker[T]) UpstreamHasSynced() {
	t.p.mu.Lock()
	defer t.p.mu.Unlock()
	t.p.upstream = true
	t.p.closeLocked(len(t.waiting) == 0)
}

// HasSynced says that each object of the initial list was worked on. It stays so.
func (t *AsyncTracker[T]) HasSynced() bool { return t.p.hasSynced() }

// Done returns a channel that is closed when HasSynced becomes true.
func (t *AsyncTracker[T]) Done() <-chan struct{} { return t.p.done }

// Name returns the name.
func (t *AsyncTracker[T]) Name() string { return t.p.name }

package synctrack

import "sync"

// progress is synced once the source has synced and every started object is finished. The channel
// done is then closed.
type progress struct {
	name string
	done chan struct{}

	mu       sync.Mutex // guards following
	upstream bool
	closed   bool
}

func newProgress(name string) progress { return progress{name: name, done: make(chan struct{})} }

// closeLocked closes done if the source has synced and idle is true. idle means that no started
// object is unfinished.
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

// SingleFileTracker tracks objects by counting them. It is for objects that are finished in the
// order in which they were started. All methods are safe for concurrent use.
type SingleFileTracker struct {
	p     *progress
	count int64 // guarded by p.mu
}

// NewSingleFileTracker returns a tracker that has not synced. The name is only returned by Name.
func NewSingleFileTracker(name string) *SingleFileTracker {
	p := newProgress(name)
	return &SingleFileTracker{p: &p}
}

// Start must be called before an object of the initial list is processed.
func (t *SingleFileTracker) Start() {
	t.p.mu.Lock()
	defer t.p.mu.Unlock()
	t.count++
}

// Finished must be called after an object of the initial list was processed. It panics if it is
// called more often than Start.
func (t *SingleFileTracker) Finished() {
	t.p.mu.Lock()
	defer t.p.mu.Unlock()
	t.count--
	if t.count < 0 {
		panic("synctrack: negative counter; this logic error means HasSynced may return incorrect value")
	}
	t.p.closeLocked(t.count == 0)
}

// UpstreamHasSynced must be called after Start was called for the whole initial list.
func (t *SingleFileTracker) UpstreamHasSynced() {
	t.p.mu.Lock()
	defer t.p.mu.Unlock()
	t.p.upstream = true
	t.p.closeLocked(t.count == 0)
}

// HasSynced reports whether every object of the initial list was processed. Once true, it stays
// true.
func (t *SingleFileTracker) HasSynced() bool { return t.p.hasSynced() }

// Done returns a channel that is closed when HasSynced becomes true.
func (t *SingleFileTracker) Done() <-chan struct{} { return t.p.done }

// Name returns the tracker's name.
func (t *SingleFileTracker) Name() string { return t.p.name }

// AsyncTracker tracks objects that several workers finish in any order. All methods are safe for
// concurrent use.
type AsyncTracker[T comparable] struct {
	p       *progress
	waiting map[T]struct{} // guarded by p.mu
}

// NewAsyncTracker returns a tracker that has not synced. The name is only returned by Name.
func NewAsyncTracker[T comparable](name string) *AsyncTracker[T] {
	p := newProgress(name)
	return &AsyncTracker[T]{p: &p, waiting: map[T]struct{}{}}
}

// Start must be called before an object of the initial list is processed. A second Start of an
// unfinished key has no effect.
func (t *AsyncTracker[T]) Start(key T) {
	t.p.mu.Lock()
	defer t.p.mu.Unlock()
	t.waiting[key] = struct{}{}
}

// Finished must be called after an object of the initial list was processed. For any other key it
// has no effect.
func (t *AsyncTracker[T]) Finished(key T) {
	t.p.mu.Lock()
	defer t.p.mu.Unlock()
	delete(t.waiting, key)
	t.p.closeLocked(len(t.waiting) == 0)
}

// UpstreamHasSynced must be called after Start was called for the whole initial list.
func (t *AsyncTracker[T]) UpstreamHasSynced() {
	t.p.mu.Lock()
	defer t.p.mu.Unlock()
	t.p.upstream = true
	t.p.closeLocked(len(t.waiting) == 0)
}

// HasSynced reports whether every object of the initial list was processed. Once true, it stays
// true.
func (t *AsyncTracker[T]) HasSynced() bool { return t.p.hasSynced() }

// Done returns a channel that is closed when HasSynced becomes true.
func (t *AsyncTracker[T]) Done() <-chan struct{} { return t.p.done }

// Name returns the tracker's name.
func (t *AsyncTracker[T]) Name() string { return t.p.name }

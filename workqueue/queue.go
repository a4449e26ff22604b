package workqueue

import (
	"context"
	"sync"
	"time"

	"github.com/kinform/kinform/internal/invariant"
)

// Queue is a deduplicating, delaying, rate-limited queue of keys. The package
// comment has its guarantees. It is safe for concurrent use; make one with New.
//
// A worker calls Get, works, and calls Done; Run is a set of such workers.
type Queue[K comparable] struct {
	opts  Options[K]
	epoch time.Time // what every time.Duration in an entry counts from

	// wake has room for one token, and wakes one blocked Get. Whenever a key is
	// ready and the lock is free, a token is in wake or with a Get that is about
	// to take the lock, so no wake-up is lost; and as a Get that leaves ready keys
	// behind passes the token on, none wakes all. It is closed by ShutDown, after
	// which no Get blocks.
	wake chan struct{}

	// drained is closed when the queue is shut down and nothing is left of it.
	drained chan struct{}

	mu sync.Mutex // guards following

	// Each key that is dirty, processing or delayed has one entry, which says
	// which of these it is; any combination is possible. ready and processing
	// list entries such that
	//
	//	processing = those that are processing, in the order of Get
	//	ready      = those that are dirty and not processing, in the order of becoming so
	//	delayed    = those that have a time to be added at, the earliest first
	entries    entries[K]
	ready      fifo[K]
	processing fifo[K]
	delayed    delayHeap[K]

	timer   *time.Timer // fires for the first of delayed; nil until there was one
	pending int         // firings of timer that are scheduled or still running

	shuttingDown bool
	stats        Stats // its counters; Stats fills in the rest
}

// New returns an empty queue. It starts nothing, and a queue without delayed
// keys needs no end; otherwise ShutDown stops its timer.
func New[K comparable](opts Options[K]) *Queue[K] {
	return &Queue[K]{
		opts:    opts.withDefaults(),
		epoch:   time.Now(),
		wake:    make(chan struct{}, 1),
		drained: make(chan struct{}),
		entries: entries[K]{byKey: make(map[K]*entry[K])},
	}
}

// Add says that work on the key is due. If it is due already, nothing changes;
// if the key is being worked on, it will be handed out again after Done. Add
// does not touch a delay of the key: it will be added at that time as well
// (WQ-23). It never blocks, and it does nothing after ShutDown.
func (q *Queue[K]) Add(key K) { q.opts.Observer.added(key, q.add(key)) }

// addResult is what became of an Add.
type addResult uint8

const (
	refused   addResult = iota // the queue is shutting down
	merged                     // the key was dirty already
	accepted                   // the key has become dirty
	scheduled                  // the key is delayed
)

func (q *Queue[K]) add(key K) addResult {
	now := q.now()
	q.mu.Lock()
	defer q.mu.Unlock() // deferred, as the map panics for a key that is not hashable

	if q.shuttingDown {
		q.stats.Refused++
		return refused
	}
	return q.markLocked(q.entries.obtain(key), now)
}

// markLocked makes an entry dirty.
func (q *Queue[K]) markLocked(e *entry[K], now time.Duration) addResult {
	if e.dirty {
		q.stats.Merged++
		return merged
	}
	e.dirty = true
	e.added = now
	q.stats.Adds++
	if !e.processing {
		q.readyLocked(e, now)
	}
	return accepted
}

// readyLocked queues an entry that is dirty and not processing, and wakes one Get.
func (q *Queue[K]) readyLocked(e *entry[K], now time.Duration) {
	invariant.Check(e.dirty && !e.processing, "only a key that is dirty and not processing becomes ready")
	e.readied = now
	q.ready.push(e)
	q.wakeLocked()
}

// wakeLocked puts the token into wake, unless it is there.
func (q *Queue[K]) wakeLocked() {
	if q.shuttingDown {
		return
	}
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// Get hands out the key that has been ready longest, and blocks while there is
// none. The caller must call Done with it; until then, nobody else gets it.
//
// Get returns ErrShutDown when the queue is shut down and nothing is ready, and
// the context's cause when it ended before. A worker that got ErrShutDown need
// not come back: a key that becomes ready later does so in the Done of another
// worker, whose next Get returns it (WQ-11).
func (q *Queue[K]) Get(ctx context.Context) (K, error) {
	var none K
	if ctx.Err() != nil {
		return none, context.Cause(ctx)
	}
	for {
		key, waited, result := q.take()
		switch result {
		case taken:
			q.opts.Observer.got(key, waited)
			return key, nil
		case over:
			return none, ErrShutDown
		}
		select {
		case <-q.wake: // which must lead to take, whatever has become of ctx meanwhile
		case <-ctx.Done():
			return none, context.Cause(ctx)
		}
	}
}

// takeResult is what a Get found.
type takeResult uint8

const (
	nothing takeResult = iota // no key is ready now
	over                      // no key is ready, and the queue is shutting down
	taken
)

func (q *Queue[K]) take() (key K, waited time.Duration, result takeResult) {
	now := q.now()
	q.mu.Lock()
	defer q.mu.Unlock()

	e := q.ready.first
	switch {
	case e == nil && q.shuttingDown:
		return key, 0, over
	case e == nil:
		return key, 0, nothing
	}
	invariant.Check(e.dirty && !e.processing, "a ready key is dirty and with no worker")
	q.ready.remove(e)
	if q.ready.len > 0 {
		q.wakeLocked()
	}
	e.dirty = false
	e.processing = true
	e.started = now
	q.processing.push(e)
	q.stats.Gets++
	return e.key, now - e.added, taken
}

// Done says that the worker which got the key has finished with it. If the key
// was added meanwhile, it becomes ready at once. Done for a key that is not
// processing is a bug of the caller; it is counted and has no effect (D2).
func (q *Queue[K]) Done(key K) {
	if ran, ok := q.finish(key); ok {
		q.opts.Observer.done(key, ran)
	}
}

func (q *Queue[K]) finish(key K) (ran time.Duration, ok bool) {
	now := q.now()
	q.mu.Lock()
	defer q.mu.Unlock()

	e := q.entries.byKey[key]
	if e == nil || !e.processing {
		q.stats.StrayDones++
		return 0, false
	}
	ran = now - e.started
	q.processing.remove(e)
	e.processing = false
	q.stats.Dones++
	if e.dirty {
		q.readyLocked(e, now)
	}
	q.entries.release(e)
	q.closeIfDrainedLocked()
	return ran, true
}

// Len returns how many keys are ready, that is, waiting for a worker. Keys that
// are delayed or processing are not counted (WQ-6).
func (q *Queue[K]) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.ready.len
}

// now returns the time since the epoch, by the monotonic clock.
func (q *Queue[K]) now() time.Duration { return time.Since(q.epoch) }

package workqueue

import (
	"context"
	"hash/maphash"
	"sync"
	"time"

	"github.com/kinform/kinform/internal/contain"
)

// This file has Add, Cancel and Done, and their effects on the sets dirty, processing and ready;
// get.go has Get. plain/workqueue.go is the textbook version. Its two maps and a slice take 217 ns
// and 32 B for Add, Get, Done. Here one entry for each key takes 108 ns and no allocation
// (bench/queue).

// Queue is a deduplicating, delaying, rate-limited queue of keys. The package comment documents its
// guarantees. A Queue is safe for concurrent use; New makes a Queue.
//
// A worker calls Get, works, and calls Done; Run is a set of such workers.
type Queue[K comparable] struct {
	opts  Options[K]
	seed  maphash.Seed
	epoch time.Time // time.Durations in entries are relative to this

	wake       chan struct{} // one token, for one blocked Get: see get.go
	shutDownCh chan struct{} // closed by ShutDown; after that no Get blocks
	drained    chan struct{} // closed when the queue is shut down and empty

	parking    parking    // the waits of Park
	workers    workerSet  // the workers of Run
	failureLog failureLog // limits the log lines about failures
	hooks      contain.Hooks

	mu sync.Mutex // guards following

	shuttingDown bool
	timed        bool // whether the times of runs are kept

	// entries has an entry for each key that is dirty, processing, parked, or has an alarm. The
	// entry says which of these apply; any combination is possible. Three other fields list some of
	// the entries:
	//
	//	processing = those that are processing, in the order of Get
	//	ready      = those that are dirty, not processing, and not held back
	//	alarms     = those that are delayed or cooling, the first to end first
	entries    table[K]
	ready      readyKeys[K]
	processing fifo[K]
	alarms     alarms[K]
	causeTable causeTable

	// sum of since over the processing keys; an overflow does not matter, because only differences
	// are used
	sinceSum time.Duration
	outcomes [numOutcomes]uint64 // number of runs by how they ended

	timer   *time.Timer // fires for the first of alarms; nil until it is needed
	pending int         // timer callbacks and waits of Park that are not over
	parked  int         // keys with a wait of Park
	delayed int         // keys that are delayed

	stats Stats // only its counters; Stats computes the rest
}

// New returns an empty queue. New starts no goroutine. A queue without delayed or parked keys can
// simply be dropped. If there are such keys, ShutDown ends their waits.
func New[K comparable](opts Options[K]) *Queue[K] {
	q := &Queue[K]{
		opts:       opts.withDefaults(),
		seed:       maphash.MakeSeed(),
		epoch:      time.Now(),
		wake:       make(chan struct{}, 1),
		shutDownCh: make(chan struct{}),
		drained:    make(chan struct{}),
		entries:    newTable[K](),
	}
	q.hooks.Logger, q.hooks.Attrs = q.opts.Logger, []any{"queue", q.opts.Name}
	q.opts.Observer = q.opts.Observer.contained(&q.hooks)
	if opts.RateLimiter != nil {
		q.opts.RateLimiter = &containedLimiter[K]{opts.RateLimiter, DefaultRateLimiter[K](), &q.hooks}
	}
	q.timed = q.opts.Timed || q.opts.Observer != nil
	q.ready.ageing = max(q.opts.Ageing, 0)
	q.ready.grouped = q.opts.Group != nil
	q.parking.ctx, q.parking.cancel = context.WithCancel(context.Background())
	return q
}

// Add requests a run of the key. If a run is pending already, Add counts in its Causes, and raises
// its priority to 0 if that is lower. If the key is being processed, it is handed out again after
// Done. Add does not affect a delay of the key: the key will be added at that time as well. Add
// never blocks, and it does nothing after ShutDown.
func (q *Queue[K]) Add(key K) { q.addNow(key, 0, "") }

func (q *Queue[K]) addNow(key K, priority int, cause string) {
	hash := q.hash(key)
	g := q.groupOf(key)
	q.mu.Lock()
	result := q.addLocked(key, hash, g, priority, cause)
	q.unlock()
	if q.opts.Observer != nil {
		q.opts.Observer.added(key, result)
	}
}

// AddWith is Add with a priority, a delay, and a cause.
func (q *Queue[K]) AddWith(key K, opts AddOptions) {
	if opts.After > 0 || opts.Delay != Earliest {
		q.addLater(key, opts)
	} else {
		q.addNow(key, opts.Priority, opts.Cause)
	}
}

// addResult is the effect of an add.
type addResult uint8

const (
	refused   addResult = iota // the queue is shutting down
	merged                     // the key was dirty already
	accepted                   // the key has become dirty
	scheduled                  // the key is delayed
)

// addLocked begins with the most common case in a busy queue: the key is dirty, and the add has no
// new cause or higher priority.
func (q *Queue[K]) addLocked(key K, hash uint32, g group, priority int, cause string) addResult {
	if q.refuseLocked() {
		return refused
	}
	e := q.entries.find(key, hash)
	if e != nil && e.dirty && cause == "" && priority <= int(e.pending.priority) {
		q.stats.Merged++
		e.pending.adds++
		return merged
	}
	if e == nil {
		e = q.insertLocked(key, hash, g)
	}
	return q.dirtyLocked(e, run{priority: clamp(priority), adds: 1, causePair: q.causeTable.pairOf(cause)})
}

// refuseLocked reports whether the queue is shut down, and counts a refused add.
func (q *Queue[K]) refuseLocked() bool {
	if q.shuttingDown {
		q.stats.Refused++
	}
	return q.shuttingDown
}

// dirtyLocked makes a key dirty.
func (q *Queue[K]) dirtyLocked(e *entry[K], added run) addResult {
	if e.dirty {
		q.mergeLocked(e, added)
		return merged
	}
	e.dirty, e.pending = true, added
	e.added = q.timeLocked()
	q.stats.Adds++
	q.readyLocked(e, e.added)
	return accepted
}

// mergeLocked merges an add into the pending run of a dirty key. A higher priority moves the key
// among the ready keys.
func (q *Queue[K]) mergeLocked(e *entry[K], added run) {
	q.stats.Merged++
	raised := e.ready() && added.priority > e.pending.priority
	if raised {
		q.ready.remove(e)
	}
	q.causeTable.merge(&e.pending, added)
	if raised {
		q.ready.push(e)
	}
}

// readyLocked makes a key ready if it is dirty and nothing holds it back: no worker has it, and
// Park and MinInterval allow it. readyLocked is called whenever a key has become dirty, is done, or
// is no longer held back.
func (q *Queue[K]) readyLocked(e *entry[K], now time.Duration) {
	if !e.dirty || e.processing || e.heldBack() || e.ready() {
		return
	}
	e.since = now
	q.ready.push(e)
}

// Cancel removes the key's pending run and its delay. A run is pending if the key is ready, held
// back, or was added again while it is processed. Cancel reports whether it removed a run or a
// delay. A run that has begun continues, and Park and MinInterval hold back later runs as before.
func (q *Queue[K]) Cancel(key K) bool {
	hash := q.hash(key)
	q.mu.Lock()
	defer q.unlock()

	e := q.entries.find(key, hash)
	if e == nil || !e.dirty && !e.delayed() {
		return false
	}
	if e.dirty {
		q.dropLocked(e)
	}
	q.removeDelayLocked(e)
	q.stats.Cancelled++
	q.entries.release(e)
	q.closeIfDrainedLocked()
	return true
}

// dropLocked removes a key from dirty, and from ready if it is there.
func (q *Queue[K]) dropLocked(e *entry[K]) {
	if e.ready() {
		q.ready.remove(e)
	}
	e.dirty = false
	q.stats.Dropped++
}

// Done says that the worker has finished with the key. If the key was added meanwhile, it becomes
// ready at once, or when Park and MinInterval allow it. Done for a key that is not processing is a
// bug in the caller; the call is counted and has no effect.
func (q *Queue[K]) Done(key K) {
	q.done(key, doneByCaller)
}

// done does the work of Done. The argument how says how the run ended.
func (q *Queue[K]) done(key K, how outcome) {
	if ran, ok := q.finish(key, how); ok && q.opts.Observer != nil {
		q.opts.Observer.done(key, ran)
	}
}

// finish removes a key from processing. It also drops the key's entry, unless another state needs
// it.
func (q *Queue[K]) finish(key K, how outcome) (ran time.Duration, ok bool) {
	q.mu.Lock()
	defer q.unlock() // also if the key is not hashable

	e := q.processing.first
	if e == nil || e.key != key { // usually the key is the only one, or the oldest
		e = q.entries.find(key, q.hash(key))
	}
	if e == nil || !e.processing {
		q.stats.StrayDones++
		return 0, false
	}
	now := q.timeLocked()
	ran = now - e.since
	e.processing = false
	q.processing.remove(e)
	q.sinceSum -= e.since
	q.stats.Dones++
	q.outcomes[how]++
	q.holdBackLocked(e, now)
	q.readyLocked(e, now) // if the key was added meanwhile
	q.entries.release(e)
	q.closeIfDrainedLocked()
	return ran, true
}

// Len returns the number of ready keys, which wait only for a worker. Keys that are delayed, parked
// or processing are not counted.
func (q *Queue[K]) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.ready.len
}

// timeLocked returns the time, or 0 if neither the times of runs nor MinInterval need it: reading
// the clock is a third of the cost of a run (BenchmarkCycle).
func (q *Queue[K]) timeLocked() time.Duration {
	if !q.timed && q.opts.MinInterval <= 0 {
		return 0
	}
	return q.now()
}

// now returns the time since the epoch, by the monotonic clock.
func (q *Queue[K]) now() time.Duration { return time.Since(q.epoch) }

// keepTimes begins to keep the times of runs. Ready and processing keys count from now on.
func (q *Queue[K]) keepTimes() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.timed {
		return
	}
	q.timed = true
	now := q.now()
	for e := range q.entries.all {
		e.added, e.since = now, now
	}
	q.sinceSum = now * time.Duration(q.processing.len)
}

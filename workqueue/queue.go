package workqueue

import (
	"context"
	"hash/maphash"
	"sync"
	"time"

	"github.com/kinform/kinform/internal/contain"
	"github.com/kinform/kinform/internal/invariant"
)

// This file has Add, Get and Done, and their effects on the sets dirty, processing and ready.
// plain/workqueue.go is the textbook version. Its two maps and a slice take 217 ns and 32 B for
// Add, Get, Done. Here one entry for each key takes 108 ns and no allocation (bench/queue).
//
// Each other feature that delays, orders or explains a run has a file of its own: priorities and
// groups (ready.go), delays (delay.go), MinInterval (interval.go), parking (park.go), the end
// (drain.go), causes (causes.go), times (times.go).

// Queue is a deduplicating, delaying, rate-limited queue of keys. The package comment documents its
// guarantees. A Queue is safe for concurrent use; New makes a Queue.
//
// A worker calls Get, works, and calls Done; Run is a set of such workers.
type Queue[K comparable] struct {
	opts  Options[K]
	seed  maphash.Seed
	epoch time.Time // time.Durations in entries are relative to this

	wake       chan struct{} // one token, for one blocked Get: see wake.go
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

// Get hands out the next key: of the highest priority, in turn among its groups, the key that has
// been ready longest. Get blocks while no key is ready. The caller must call Done with the key;
// until then, no other worker gets it.
//
// Get returns ErrShutDown when the queue is shut down and no key is ready, and the context's cause
// when the context has ended first. A worker that got ErrShutDown need not call Get again. A key
// can become ready later only in the Done of another worker, whose next Get returns it.
func (q *Queue[K]) Get(ctx context.Context) (key K, err error) {
	if q.opts.Observer != nil {
		item, err := q.GetItem(ctx)
		return item.Key, err
	}
	err = q.get(ctx, &key, nil)
	return key, err
}

// get is Get, and also fills in the item unless it is nil.
func (q *Queue[K]) get(ctx context.Context, key *K, item *Item[K]) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for {
		q.mu.Lock()
		taken, shuttingDown := q.takeLocked(key, item), q.shuttingDown
		q.unlock()
		switch {
		case taken:
			return nil
		case shuttingDown:
			return ErrShutDown
		}
		if err := q.awaitWake(ctx); err != nil {
			return err
		}
	}
}

// takeLocked moves a key from ready and dirty to processing, and reports whether a key was ready.
func (q *Queue[K]) takeLocked(key *K, item *Item[K]) bool {
	e := q.ready.pop()
	if e == nil {
		return false
	}
	invariant.Check(e.dirty && !e.processing && !e.heldBack(), "a ready key is dirty, with no worker, and not held back")
	e.dirty, e.processing = false, true // from here on, an add makes the key dirty again
	e.running = e.pending
	e.since = q.timeLocked()
	q.processing.push(e)
	q.sinceSum += e.since
	q.stats.Gets++
	q.beginIntervalLocked(e, e.since)
	*key = e.key
	if item != nil {
		q.describeLocked(item, e)
	}
	return true
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

package workqueue

import (
	"context"
	"hash/maphash"
	"sync"
	"time"
)

// Queue is a deduplicating, delaying, rate-limited queue of keys. The package
// comment has its guarantees. It is safe for concurrent use; make one with New.
//
// A worker calls Get, works, and calls Done; Run is a set of such workers.
type Queue[K comparable] struct {
	opts  Options[K]
	seed  maphash.Seed
	epoch time.Time // what every time.Duration in an entry counts from

	// wake has room for one token, and wakes one blocked Get. Whenever a key is
	// ready and the lock is free, a token is in wake, or with a Get that is about
	// to take the lock, or with who has just left the lock and is about to put it
	// in, so no wake-up is lost; and as a Get that leaves ready keys behind passes
	// the token on, none wakes all. An add wakes one more even if another was woken
	// and has not looked yet: the system may have taken its processor away.
	wake chan struct{}

	// over is closed by ShutDown, after which no Get blocks.
	over chan struct{}

	// drained is closed when the queue is shut down and nothing is left of it.
	drained chan struct{}

	parking parking // the waits of Park
	crew    crew    // the workers of Run
	failing failing // what the log has been told of it

	mu sync.Mutex // guards following

	shuttingDown bool
	timed        bool // whether the times of a turn are kept

	// Each key that is dirty, processing, parked or has an alarm has one entry,
	// which says which of these it is; any combination is possible. ready and
	// processing list entries such that
	//
	//	processing = those that are processing, in the order of Get
	//	ready      = those that are dirty, and neither processing nor held back
	//	alarms     = those that are delayed or cooling, the first to end first
	entries    table[K]
	ready      readyKeys[K]
	processing fifo[K]
	alarms     alarms[K]
	whys       whys

	timer   *time.Timer // rings for the first of alarms; nil until there was one
	pending int         // ringings of timer, and waits of Park, that are not over
	parked  int         // keys with such a wait
	waiting int         // keys that are delayed

	stats Stats // its counters; Stats fills in the rest
}

// New returns an empty queue. It starts nothing, and a queue without delayed or
// parked keys needs no end; otherwise ShutDown ends what waits for them.
func New[K comparable](opts Options[K]) *Queue[K] {
	q := &Queue[K]{
		opts:    opts.withDefaults(),
		seed:    maphash.MakeSeed(),
		epoch:   time.Now(),
		wake:    make(chan struct{}, 1),
		over:    make(chan struct{}),
		drained: make(chan struct{}),
		entries: newTable[K](),
	}
	q.timed = q.opts.Timed || q.opts.Observer != nil
	q.ready.ageing = max(q.opts.Ageing, 0)
	q.ready.grouped = q.opts.Group != nil
	q.parking.ctx, q.parking.end = context.WithCancel(context.Background())
	return q
}

// AddOptions says how a key is added. The zero value is what Add does.
type AddOptions struct {
	// Priority orders the keys that are ready: those of a higher one are handed
	// out first, and Options.Ageing keeps the others from starving. A key that is
	// added several times before its turn has the highest of its priorities; one
	// whose priority is raised goes behind those that are ready at the new one.
	// There should be few different ones at a time, dozens and not thousands.
	// Defaults to 0; LowPriority is for work that nobody waits for.
	Priority int

	// After is how long to wait until the key is added; not positive means at
	// once. A key has one time to be added at.
	After time.Duration

	// Delay says which time stands when the key has one already. Defaults to
	// Earliest.
	Delay DelayMode

	// Cause says why, in few words of which there are few kinds, such as
	// "secret changed". See Causes. Defaults to "": not said.
	Cause string
}

// LowPriority is the priority, for AddOptions, of work that nobody waits for:
// what the initial list and a resync bring.
const LowPriority = -100

// Add says that work on the key is due. If it is due already, nothing changes but
// its Causes, and its priority if that is less than 0; if the key is being worked
// on, it will be handed out again after Done. Add does not touch a delay of the
// key: it will be added at that time as well (WQ-23). It never blocks, and it does
// nothing after ShutDown.
func (q *Queue[K]) Add(key K) { q.addNow(key, 0, "") }

// AddWith is Add with a priority, a delay, and a cause.
func (q *Queue[K]) AddWith(key K, how AddOptions) {
	if how.After > 0 || how.Delay != Earliest {
		q.addLater(key, how)
	} else {
		q.addNow(key, how.Priority, how.Cause)
	}
}

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

// hash panics if K is an interface and the key is not hashable. It needs no lock.
func (q *Queue[K]) hash(key K) uint32 { return uint32(maphash.Comparable(q.seed, key)) }

// obtainLocked returns the entry of the key, and makes it if there is none.
func (q *Queue[K]) obtainLocked(key K, hash uint32, g group) *entry[K] {
	e := q.entries.find(key, hash)
	if e == nil {
		e = q.insertLocked(key, hash, g)
	}
	return e
}

// insertLocked makes an entry for a key that has none.
func (q *Queue[K]) insertLocked(key K, hash uint32, g group) *entry[K] {
	e := q.entries.insert(key, hash)
	if g.weight > 0 {
		e.group, e.weight = g.name, g.weight
	}
	return e
}

// addResult is what became of an Add.
type addResult uint8

const (
	refused   addResult = iota // the queue is shutting down
	merged                     // the key was dirty already
	accepted                   // the key has become dirty
	scheduled                  // the key is delayed
)

// addLocked begins with what most adds of a busy queue find: the key is dirty, and
// nothing is new but that there was one more.
func (q *Queue[K]) addLocked(key K, hash uint32, g group, priority int, cause string) addResult {
	if q.refuseLocked() {
		return refused
	}
	e := q.entries.find(key, hash)
	if e != nil && e.dirty && cause == "" && priority <= int(e.work.priority) {
		q.stats.Merged++
		e.work.adds++
		return merged
	}
	if e == nil {
		e = q.insertLocked(key, hash, g)
	}
	return q.dueLocked(e, work{priority: clamp(priority), adds: 1, why: q.whys.one(cause)})
}

// refuseLocked reports that the queue takes nothing any more, and counts that.
func (q *Queue[K]) refuseLocked() bool {
	if q.shuttingDown {
		q.stats.Refused++
	}
	return q.shuttingDown
}

// dueLocked makes an entry dirty.
func (q *Queue[K]) dueLocked(e *entry[K], due work) addResult {
	if e.dirty {
		q.mergeLocked(e, due)
		return merged
	}
	e.dirty = true
	e.work = due
	q.stats.Adds++
	e.added = q.timeLocked()
	q.settleLocked(e, e.added)
	return accepted
}

// mergeLocked adds to the work that is due on an entry.
func (q *Queue[K]) mergeLocked(e *entry[K], due work) {
	q.stats.Merged++
	raised := e.lane != nil && due.priority > e.work.priority
	if raised {
		q.ready.remove(e)
	}
	q.whys.merge(&e.work, due)
	if raised {
		q.ready.push(e)
	}
}

// settleLocked makes an entry ready that should be and is not. It is called
// wherever something that kept the entry from it has gone.
func (q *Queue[K]) settleLocked(e *entry[K], now time.Duration) {
	if !e.dirty || e.processing || e.parked > 0 || e.cool > 0 || e.lane != nil {
		return
	}
	e.since = now
	q.ready.push(e)
}

// unlock ends what mu guards, and puts the token into wake if a key is ready for
// which nobody has been woken. It does so after the lock is free, which a Get
// that wakes up wants at once.
func (q *Queue[K]) unlock() {
	wake := q.ready.len > 0 && len(q.wake) == 0
	q.mu.Unlock()
	if wake {
		select {
		case q.wake <- struct{}{}:
		default:
		}
	}
}

// Len returns how many keys are ready, that is, waiting for a worker. Keys that
// are delayed, parked or processing are not counted (WQ-6).
func (q *Queue[K]) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.ready.len
}

// timeLocked returns the time, or 0 if neither the records of a turn nor MinInterval
// need it: to read the clock is a third of what a turn costs.
func (q *Queue[K]) timeLocked() time.Duration {
	if !q.timed && q.opts.MinInterval <= 0 {
		return 0
	}
	return q.now()
}

// now returns the time since the epoch, by the monotonic clock.
func (q *Queue[K]) now() time.Duration { return time.Since(q.epoch) }

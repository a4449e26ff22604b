package workqueue

import (
	"context"
	"sync"
	"time"
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

	parking parking // the waits of Park
	crew    crew    // the workers of Run

	mu sync.Mutex // guards following

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
	alarms     alarmHeap[K]

	timer   *time.Timer // rings for the first of alarms; nil until there was one
	pending int         // ringings of timer, and waits of Park, that are not over
	parked  int         // keys with such a wait

	// clock is the time at which the latest Add made a key dirty, if nothing has
	// happened since, and otherwise 0: a Get that follows at once need not read
	// the clock, which would be a third of what it costs.
	clock time.Duration

	shuttingDown bool
	stats        Stats // its counters; Stats fills in the rest
}

// New returns an empty queue. It starts nothing, and a queue without delayed or
// parked keys needs no end; otherwise ShutDown ends what waits for them.
func New[K comparable](opts Options[K]) *Queue[K] {
	q := &Queue[K]{
		opts:    opts.withDefaults(),
		epoch:   time.Now(),
		wake:    make(chan struct{}, 1),
		drained: make(chan struct{}),
		entries: newTable[K](),
	}
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
// its Causes; if the key is being worked on, it will be handed out again after
// Done. Add does not touch a delay of the key: it will be added at that time as
// well (WQ-23). It never blocks, and it does nothing after ShutDown.
func (q *Queue[K]) Add(key K) { q.addNow(key, &work{causes: because("")}) }

// AddWith is Add with a priority, a delay, and a cause.
func (q *Queue[K]) AddWith(key K, how AddOptions) {
	due := work{priority: how.Priority, causes: because(how.Cause)}
	if how.After > 0 || how.Delay != Earliest {
		q.addLater(key, &due, how)
	} else {
		q.addNow(key, &due)
	}
}

func (q *Queue[K]) addNow(key K, due *work) {
	id := q.identify(key)
	result := q.add(&id, due)
	if q.opts.Observer != nil {
		q.opts.Observer.added(key, result)
	}
}

// identity is what must be found out about a key before the lock is taken: its
// hash, as a key may not be hashable, and its group, as that is user code.
type identity[K comparable] struct {
	key    K
	hash   uint64
	group  string
	weight int32
}

func (q *Queue[K]) identify(key K) identity[K] {
	id := identity[K]{key: key, hash: q.entries.hash(key)}
	if q.opts.Group != nil {
		id.group, id.weight = q.groupOf(key)
	}
	return id
}

// obtainLocked returns the entry of the key, and makes it if there is none.
func (q *Queue[K]) obtainLocked(id *identity[K]) *entry[K] {
	e := q.entries.find(id.key, id.hash)
	if e == nil {
		e = q.entries.insert(id.key, id.hash)
		e.group, e.weight = id.group, id.weight
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

func (q *Queue[K]) add(id *identity[K], due *work) addResult {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.shuttingDown {
		q.stats.Refused++
		return refused
	}
	return q.dueLocked(q.obtainLocked(id), due)
}

// dueLocked makes an entry dirty.
func (q *Queue[K]) dueLocked(e *entry[K], due *work) addResult {
	if e.dirty {
		q.mergeLocked(e, due)
		return merged
	}
	e.dirty = true
	e.work = *due
	q.stats.Adds++
	e.added = q.now()
	q.settleLocked(e, e.added)
	q.clock = e.added
	return accepted
}

// mergeLocked adds to the work that is due on an entry.
func (q *Queue[K]) mergeLocked(e *entry[K], due *work) {
	q.clock = 0
	q.stats.Merged++
	e.work.causes.merge(&due.causes)
	if due.priority <= e.work.priority {
		return
	}
	if e.lane == nil {
		e.work.priority = due.priority
		return
	}
	q.ready.remove(e)
	e.work.priority = due.priority
	q.ready.push(e)
}

// settleLocked makes an entry ready that should be and is not. It is called
// wherever something that kept the entry from it has gone.
func (q *Queue[K]) settleLocked(e *entry[K], now time.Duration) {
	if !e.dirty || e.processing || e.parked > 0 || e.cool > 0 || e.lane != nil {
		return
	}
	e.readied = now
	q.ready.push(e)
	q.wakeLocked()
}

// wakeLocked puts the token into wake, unless it is there.
func (q *Queue[K]) wakeLocked() {
	if q.shuttingDown || len(q.wake) > 0 {
		return
	}
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// Len returns how many keys are ready, that is, waiting for a worker. Keys that
// are delayed, parked or processing are not counted (WQ-6).
func (q *Queue[K]) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.ready.len
}

// now returns the time since the epoch, by the monotonic clock.
func (q *Queue[K]) now() time.Duration { return time.Since(q.epoch) }

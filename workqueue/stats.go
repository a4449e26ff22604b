package workqueue

import (
	"cmp"
	"slices"
	"time"
)

// Stats is a consistent snapshot of a queue: Adds = Gets + Dirty + Dropped, and Gets = Dones +
// Processing.
type Stats struct {
	// Name is Options.Name.
	Name string

	// ShuttingDown is true from ShutDown on.
	ShuttingDown bool

	// Ready, Delayed, Parked, Processing and Dirty are the numbers of keys in each state. Ready
	// keys can be handed out, delayed keys wait for their time, Park holds parked keys back, and
	// workers have the processing keys. Dirty keys have a pending run: they are ready, held back,
	// or were added again while they were with a worker. A key can be in several states.
	Ready, Delayed, Parked, Processing, Dirty int

	// Levels has the number of ready keys by priority, the highest priority first.
	Levels []Level

	// Timed says whether the queue keeps times, without which the next fields are 0: see
	// Options.Timed.
	Timed bool

	// OldestReady is the longest time that a key has been ready, among the keys that are next in
	// their group and priority. LongestRunning is the longest time that a key has been processing.
	// Each is 0 if there is no such key.
	OldestReady, LongestRunning time.Duration

	// Unfinished is the sum of the times that keys have been processing.
	Unfinished time.Duration

	// Workers is the number of workers of the current Run, or 0 without a Run. Workers is read at
	// nearly the same moment as the other fields.
	Workers int

	// These fields count events since the queue was made. Adds: a key became dirty. Merged: an add
	// found its key dirty already. Retries: a delayed add or a Retry was accepted. Gets: a key was
	// handed out. Dones: a key was done.
	Adds, Merged, Retries, Gets, Dones uint64

	// Refused counts adds and parks of every kind after ShutDown. Discarded counts what ShutDown
	// removed: delays, and the pending runs of parked keys. Cancelled counts calls of Cancel that
	// removed something. Dropped counts the pending runs that ended without a Get, by Cancel or by
	// ShutDown. So a removed run of a parked key counts in Discarded and in Dropped.
	Refused, Discarded, Cancelled, Dropped uint64

	// StrayDones counts the calls of Done for keys that were not processing. Such a call has no
	// effect, and shows a bug in a worker.
	StrayDones uint64

	// Failures counts reconciles of Run that returned an error or panicked, and Panics the
	// reconciles that panicked.
	Failures, Panics uint64

	// HookPanics counts calls of the program's other functions that panicked or ended their
	// goroutine: Observer, RateLimiter, Group, Weight and Logger.
	HookPanics uint64

	// Outcomes counts the completed runs of Run, by how they ended.
	Outcomes Outcomes
}

// Level is the number of ready keys of a priority.
type Level struct{ Priority, Ready int }

// Stats returns a snapshot. Stats holds the queue's lock for some nanoseconds, however long the
// queue is, and for some more nanoseconds for each group with ready keys.
func (q *Queue[K]) Stats() Stats {
	workers, hookPanics := q.workers.size(), q.hooks.Panics()
	q.mu.Lock()
	defer q.mu.Unlock()

	now := q.now() // after taking the lock: a later run would begin after now
	s := q.stats
	s.Name = q.opts.Name
	s.ShuttingDown = q.shuttingDown
	s.Timed = q.timed
	s.Workers = workers
	s.HookPanics = hookPanics
	s.Outcomes = q.outcomesLocked()
	s.Ready = q.ready.len
	s.Delayed = q.delayed
	s.Parked = q.parked
	s.Processing = q.processing.len
	s.Dirty = int(s.Adds - s.Gets - s.Dropped)
	for _, l := range q.ready.levels {
		if l.len > 0 {
			s.Levels = append(s.Levels, Level{Priority: int(l.priority), Ready: l.len})
			if q.timed {
				s.OldestReady = max(s.OldestReady, now-l.oldest())
			}
		}
	}
	if e := q.processing.first; e != nil && q.timed {
		s.LongestRunning = now - e.since
		s.Unfinished = now*time.Duration(q.processing.len) - q.sinceSum
	}
	return s
}

// KeyState is the queue's state of one key. A time that does not apply is zero. Started and
// ReadySince are also zero if times are not kept: see Options.Timed.
type KeyState[K comparable] struct {
	Key   K
	Group string // by Options.Group

	// Processing says that the key is with a worker, since Started. Dirty says that a run is
	// pending, and Ready that the key can be handed out, since ReadySince. A dirty key is not ready
	// while a worker has it, while it is Parked, and before the time Cooling (because of
	// MinInterval).
	Processing, Dirty, Ready, Parked bool
	Started, ReadySince, Cooling     time.Time

	// Until is when a delayed key is added.
	Until time.Time

	// Priority and Causes belong to the pending run, or else to the current run, or else to the
	// delay.
	Priority int
	Causes   Causes

	// Retries is the number of consecutive failures of the key, according to the rate limiter.
	Retries int
}

// Lookup returns the state of the key; ok is false if the queue does not have the key. A worker can
// use Lookup to read why it has the key: unless the key was added again, the causes are those of
// its run.
func (q *Queue[K]) Lookup(key K) (state KeyState[K], ok bool) {
	hash := q.hash(key)
	q.mu.Lock()
	e := q.entries.find(key, hash)
	if e != nil {
		state = q.stateLocked(e)
	}
	q.mu.Unlock()

	if e == nil {
		return state, false
	}
	state.Retries = q.NumRequeues(key)
	return state, true
}

// Inspect returns the state of every key. First come the keys with workers, longest first; then the
// ready keys by priority, longest first; then the waiting keys, parked keys first and delayed keys
// by time. If times are not kept, ready keys of one priority are in no particular order. The slice
// belongs to the caller. Inspect holds the queue's lock while it visits all keys: about a
// millisecond for ten thousand keys.
func (q *Queue[K]) Inspect() []KeyState[K] {
	states := q.states()
	for i := range states {
		states[i].Retries = q.NumRequeues(states[i].Key)
	}
	slices.SortFunc(states, func(a, b KeyState[K]) int {
		return cmp.Or(
			cmp.Compare(a.stage(), b.stage()),
			a.Started.Compare(b.Started),
			a.waitsUntil().Compare(b.waitsUntil()),
			cmp.Compare(b.Priority, a.Priority),
			a.ReadySince.Compare(b.ReadySince),
		)
	})
	return states
}

func (s *KeyState[K]) stage() int {
	switch {
	case s.Processing:
		return 0
	case s.Ready:
		return 1
	}
	return 2
}

// waitsUntil returns when a key is due that is neither ready nor with a worker. It returns zero if
// only Park holds the key back.
func (s *KeyState[K]) waitsUntil() time.Time {
	switch {
	case s.stage() < 2:
		return time.Time{}
	case s.Dirty || s.Until.IsZero():
		return s.Cooling
	}
	return s.Until
}

func (q *Queue[K]) states() []KeyState[K] {
	q.mu.Lock()
	defer q.mu.Unlock()
	states := make([]KeyState[K], 0, q.entries.len)
	for e := range q.entries.all {
		states = append(states, q.stateLocked(e))
	}
	return states
}

func (q *Queue[K]) stateLocked(e *entry[K]) KeyState[K] {
	s := KeyState[K]{
		Key:        e.key,
		Group:      e.group,
		Processing: e.processing,
		Dirty:      e.dirty,
		Ready:      e.ready(),
		Parked:     e.parked > 0,
	}
	var t run
	switch {
	case e.dirty:
		t = e.pending
	case e.processing:
		t = e.running
	case e.delayed():
		t = e.delayedRun
	}
	s.Priority, s.Causes = int(t.priority), t.causes()
	if e.processing && q.timed {
		s.Started = q.epoch.Add(e.since)
	}
	if s.Ready && q.timed {
		s.ReadySince = q.epoch.Add(e.since)
	}
	if e.coolUntil > 0 {
		s.Cooling = q.epoch.Add(e.coolUntil)
	}
	if e.delayed() {
		s.Until = q.epoch.Add(e.delayedUntil)
	}
	return s
}

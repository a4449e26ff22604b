package workqueue

import "time"

// Stats is a snapshot of a queue, taken in one step, so that its numbers agree:
// Adds = Gets + Dirty + Dropped, and Gets = Dones + Processing.
type Stats struct {
	// Name is that of the Options.
	Name string

	// ShuttingDown is true from ShutDown on.
	ShuttingDown bool

	// How many keys are, now: ready to be handed out, waiting for their time,
	// held back by Park, with a worker, and dirty, which are the ready ones, those
	// that were added again while they were with a worker, and those that are held
	// back from being ready. A key can be several of these.
	Ready, Delayed, Parked, Processing, Dirty int

	// Levels has how many of the ready keys are of which priority, the highest
	// first.
	Levels []Level

	// Timed says whether the queue keeps times of keys, without which the two
	// below are 0: see Options.Timed.
	Timed bool

	// OldestReady is how long the key has been ready that has been so for longest,
	// of those that are next in their group and priority, and LongestRunning how
	// long the key that has been processing longest; 0 where there is none.
	OldestReady, LongestRunning time.Duration

	// Unfinished is how long all keys that are processing have been so, added up; 0
	// likewise.
	Unfinished time.Duration

	// Workers is how many workers the Run has that goes on, 0 if there is none. It is of
	// nearly the same moment.
	Workers int

	// How often, since the queue was made: a key became dirty, an add found its key
	// dirty already, a delayed add or a Retry was accepted, a key was handed out, and
	// was done.
	Adds, Merged, Retries, Gets, Dones uint64

	// Refused counts the adds and parks, of every kind, that came after ShutDown;
	// Discarded the delays and the turns of parked keys that ShutDown dropped;
	// Cancelled the calls of Cancel that took something back; and Dropped the
	// turns, of keys that were dirty, among these.
	Refused, Discarded, Cancelled, Dropped uint64

	// StrayDones counts the calls of Done for keys that were not processing. They
	// have no effect; each is a bug in a worker.
	StrayDones uint64

	// Failures counts the reconciles of Run that returned an error or panicked,
	// and Panics those of them that panicked.
	Failures, Panics uint64

	// HookPanics counts the calls of the other functions of the program that panicked, or
	// ended their goroutine: Observer, RateLimiter, Group, Weight and Logger.
	HookPanics uint64

	// Turns says how the turns of Run have ended that are Dones.
	Turns Turns
}

// Level is how many keys of a priority are ready.
type Level struct{ Priority, Ready int }

// Stats returns a snapshot. It takes the queue's lock for some nanoseconds,
// however long the queue is, and some more for each group that is ready.
func (q *Queue[K]) Stats() Stats {
	workers, hookPanics := q.crew.size(), q.hooks.Panics()
	q.mu.Lock()
	defer q.mu.Unlock()

	now := q.now() // not before the lock: a turn that began meanwhile would be in the future
	s := q.stats
	s.Name = q.opts.Name
	s.ShuttingDown = q.shuttingDown
	s.Timed = q.timed
	s.Workers = workers
	s.HookPanics = hookPanics
	s.Turns = q.turnsLocked()
	s.Ready = q.ready.len
	s.Delayed = q.waiting
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
		s.Unfinished = now*time.Duration(q.processing.len) - q.begun
	}
	return s
}

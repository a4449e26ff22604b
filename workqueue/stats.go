package workqueue

import "time"

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

	// Refused counts adds and parks of every kind after ShutDown. Discarded counts the delays, and
	// the runs of parked keys, that ShutDown dropped. Cancelled counts calls of Cancel that removed
	// something. Dropped counts the pending runs that ShutDown or Cancel dropped.
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

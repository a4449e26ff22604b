package workqueue

import "time"

// Stats is a snapshot of a queue, taken in one step, so that its numbers agree:
// Adds = Gets + Dirty, and Gets = Dones + Processing.
type Stats struct {
	// Name is that of the Options.
	Name string

	// ShuttingDown is true from ShutDown on.
	ShuttingDown bool

	// How many keys are, now: ready to be handed out, waiting for their time,
	// with a worker, and dirty, which are the ready ones and those that were
	// added again while they were with a worker. A key can be delayed and one of
	// the others as well.
	Ready, Delayed, Processing, Dirty int

	// OldestReady is how long the key that has been ready longest has been so,
	// and LongestRunning how long the key that has been processing longest; 0
	// where there is none.
	OldestReady, LongestRunning time.Duration

	// How often, since the queue was made: a key became dirty, an Add found its
	// key dirty already, AddAfter or AddRateLimited was accepted, a key was
	// handed out, and was done.
	Adds, Merged, Retries, Gets, Dones uint64

	// Refused counts the Adds, of every kind, that came after ShutDown, and
	// Discarded the delayed keys that ShutDown dropped.
	Refused, Discarded uint64

	// StrayDones counts the calls of Done for keys that were not processing. They
	// have no effect; each is a bug in a worker.
	StrayDones uint64

	// Failures counts the reconciles of Run that returned an error or panicked,
	// and Panics those of them that panicked.
	Failures, Panics uint64
}

// Stats returns a snapshot. It takes the queue's lock for a few nanoseconds,
// however long the queue is.
func (q *Queue[K]) Stats() Stats {
	now := q.now()
	q.mu.Lock()
	defer q.mu.Unlock()

	s := q.stats
	s.Name = q.opts.Name
	s.ShuttingDown = q.shuttingDown
	s.Ready = q.ready.len
	s.Delayed = q.delayed.len()
	s.Processing = q.processing.len
	s.Dirty = int(s.Adds - s.Gets)
	if e := q.ready.first; e != nil {
		s.OldestReady = now - e.readied
	}
	if e := q.processing.first; e != nil {
		s.LongestRunning = now - e.started
	}
	return s
}

// Running describes a key that is with a worker.
type Running[K comparable] struct {
	Key     K
	Started time.Time

	// Dirty says that the key was added again since: it will run once more.
	Dirty bool
}

// Inspect returns the keys that are with workers, those that have been so for
// longest first. The slice is the caller's.
func (q *Queue[K]) Inspect() []Running[K] {
	q.mu.Lock()
	defer q.mu.Unlock()

	running := make([]Running[K], 0, q.processing.len)
	for e := q.processing.first; e != nil; e = e.next {
		running = append(running, Running[K]{Key: e.key, Started: q.epoch.Add(e.started), Dirty: e.dirty})
	}
	return running
}

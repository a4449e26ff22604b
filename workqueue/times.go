package workqueue

import "time"

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

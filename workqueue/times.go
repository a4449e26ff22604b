package workqueue

import "time"

// timeLocked returns the time, or 0 if neither the records of a turn nor MinInterval
// need it: to read the clock is a third of what a turn costs (BenchmarkCycle).
func (q *Queue[K]) timeLocked() time.Duration {
	if !q.timed && q.opts.MinInterval <= 0 {
		return 0
	}
	return q.now()
}

// now returns the time since the epoch, by the monotonic clock.
func (q *Queue[K]) now() time.Duration { return time.Since(q.epoch) }

// keepTimes begins to keep times of turns. Keys that are ready count as being so from now on.
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
	q.begun = now * time.Duration(q.processing.len)
}

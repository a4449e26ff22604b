package workqueue

import (
	"cmp"
	"slices"
	"time"
)

// rings returns the entry's next time: the end of its delay or of its MinInterval, whichever is
// first.
func (e *entry[K]) rings() time.Duration {
	switch {
	case e.laterAt == 0 && e.cool == 0:
		return never
	case e.laterAt == 0:
		return e.cool
	case e.cool == 0:
		return e.laterAt
	}
	return min(e.laterAt, e.cool)
}

// alarmLocked sets the entry's alarm, and the timer if the alarm is now the first.
func (q *Queue[K]) alarmLocked(e *entry[K], now time.Duration) {
	if q.alarms.set(e, e.rings()) {
		q.armLocked(now)
	}
}

// armLocked sets the timer to the first alarm, if there is one.
func (q *Queue[K]) armLocked(now time.Duration) {
	first := q.alarms.first()
	switch {
	case first == never:
	case q.timer == nil:
		q.timer = time.AfterFunc(first-now, func() { q.ring() })
		q.pending++
	case !q.timer.Reset(first - now): // if Reset returns true, the pending callback was only moved
		q.pending++
	}
}

// ring handles the alarms that are due, and sets the timer for the next one. ring takes the lock
// again for each key, so that workers can begin while thousands of keys are due.
func (q *Queue[K]) ring() {
	left := false
	defer func() {
		if !left { // A hook ended the goroutine. q.pending counts the replacement instead.
			go func() { q.ring() }()
		}
	}()
	for {
		key, result, ok := q.ringOne()
		if !ok {
			left = true
			return
		}
		q.opts.Observer.added(key, result)
	}
}

func (q *Queue[K]) ringOne() (key K, result addResult, ok bool) {
	q.mu.Lock()
	defer q.unlock()

	now := q.now() // after taking the lock: the next alarm is set relative to now
	e, more := q.alarms.ring(now)
	if more {
		return key, refused, true
	}
	if e == nil {
		q.armLocked(now)
		q.pending--
		q.closeIfDrainedLocked()
		return key, refused, false
	}
	if e.cool <= now {
		e.cool = 0
	}
	due, isDue := e.later, e.delayed() && e.laterAt <= now
	if isDue {
		q.undelayLocked(e)
	}
	if e.rings() != never {
		q.alarms.set(e, e.rings())
	}
	key = e.key
	// before the delayed run is merged with a run whose interval may have ended
	q.readyLocked(e, now)
	if isDue {
		return key, q.dirtyLocked(e, due), true
	}
	q.entries.release(e)
	return key, refused, true
}

// discardAlarmsLocked removes all alarms and stops the timer. Delays are discarded. Dirty keys in
// their MinInterval become ready, in the order in which their intervals would have ended.
func (q *Queue[K]) discardAlarmsLocked() {
	q.stats.Discarded += uint64(q.waiting)
	q.waiting = 0
	idle := 0
	var cooled []*entry[K]
	for e := range q.alarms.all {
		q.alarms.unset(e)
		e.laterAt, e.later = 0, turn{}
		if e.dirty {
			cooled = append(cooled, e)
			continue
		}
		e.cool = 0
		if e.idle() {
			idle++
		}
	}
	q.alarms = alarms[K]{}
	q.entries.sweep(idle)
	slices.SortStableFunc(cooled, func(a, b *entry[K]) int { return cmp.Compare(a.cool, b.cool) })
	now := q.timeLocked()
	for _, e := range cooled {
		e.cool = 0
		q.readyLocked(e, now)
	}
	if q.timer != nil && q.timer.Stop() {
		q.pending--
	}
}

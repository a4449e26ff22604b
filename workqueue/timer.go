package workqueue

import "time"

// alarmLocked sets the entry's alarm, and the timer if that is now the first.
func (q *Queue[K]) alarmLocked(e *entry[K], now time.Duration) {
	a := q.alarms.obtain(e)
	q.alarms.set(a)
	if a.slot == 0 {
		q.armLocked(now)
	}
}

// armLocked sets the timer to the first alarm, if there is one.
func (q *Queue[K]) armLocked(now time.Duration) {
	first, at := q.alarms.first()
	switch {
	case first == nil:
	case q.timer == nil:
		q.timer = time.AfterFunc(at-now, q.ring)
		q.pending++
	case !q.timer.Reset(at - now): // otherwise it was scheduled, and has been moved
		q.pending++
	}
}

// ring deals with the alarms that ring now, and arms the timer for the next. It
// takes the lock for each key anew, so that workers can begin while thousands
// are due.
func (q *Queue[K]) ring() {
	for {
		key, result, ok := q.ringOne()
		if !ok {
			return
		}
		q.opts.Observer.added(key, result)
	}
}

func (q *Queue[K]) ringOne() (key K, result addResult, ok bool) {
	now := q.now()
	q.mu.Lock()
	defer q.unlock()

	a, at := q.alarms.first()
	if at > now || a == nil {
		q.armLocked(now)
		q.pending--
		q.closeIfDrainedLocked()
		return key, refused, false
	}
	e := a.entry
	if e.cool <= now {
		e.cool = 0
	}
	due, isDue := a.work, a.due <= now
	if isDue {
		a.due, a.work = never, work{}
		q.alarms.delayed--
	}
	if a.rings() == never {
		q.alarms.remove(a)
	} else {
		q.alarms.set(a)
	}
	key = e.key
	if isDue {
		return key, q.dueLocked(e, due), true
	}
	q.settleLocked(e, now)
	q.entries.release(e)
	return key, refused, true
}

// silenceLocked drops all alarms and stops the timer. What was delayed is
// discarded.
func (q *Queue[K]) silenceLocked() {
	now := q.timeLocked()
	q.stats.Discarded += uint64(q.alarms.delayed)
	q.alarms.delayed = 0
	for a, _ := q.alarms.first(); a != nil; a, _ = q.alarms.first() {
		e := a.entry
		q.alarms.remove(a)
		e.cool = 0
		q.settleLocked(e, now)
		q.entries.release(e)
	}
	if q.timer != nil && q.timer.Stop() {
		q.pending--
	}
}

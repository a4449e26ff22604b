package workqueue

import (
	"cmp"
	"slices"
	"time"
)

// nextAlarm returns the entry's next time: the end of its delay or of its MinInterval, whichever is
// first.
func (e *entry[K]) nextAlarm() time.Duration {
	switch {
	case e.delayedUntil == 0 && e.coolUntil == 0:
		return never
	case e.delayedUntil == 0:
		return e.coolUntil
	case e.coolUntil == 0:
		return e.delayedUntil
	}
	return min(e.delayedUntil, e.coolUntil)
}

// setAlarmLocked sets the entry's alarm, and the timer if the alarm is now the first.
func (q *Queue[K]) setAlarmLocked(e *entry[K], now time.Duration) {
	if q.alarms.set(e, e.nextAlarm()) {
		q.setTimerLocked(now)
	}
}

// setTimerLocked sets the timer to the first alarm, if there is one.
func (q *Queue[K]) setTimerLocked(now time.Duration) {
	first := q.alarms.first()
	switch {
	case first == never:
	case q.timer == nil:
		q.timer = time.AfterFunc(first-now, func() { q.handleDueAlarms() })
		q.pending++
	case !q.timer.Reset(first - now): // if Reset returns true, the pending callback was only moved
		q.pending++
	}
}

// handleDueAlarms handles the alarms that are due, and sets the timer for the next one.
// handleDueAlarm takes the lock again for each key, so that workers can begin while thousands of
// keys are due.
func (q *Queue[K]) handleDueAlarms() {
	returned := false
	defer func() {
		if !returned { // A hook ended the goroutine. q.pending counts the replacement instead.
			go func() { q.handleDueAlarms() }()
		}
	}()
	for {
		key, result, ok := q.handleDueAlarm()
		if !ok {
			returned = true
			return
		}
		q.opts.Observer.added(key, result)
	}
}

func (q *Queue[K]) handleDueAlarm() (key K, result addResult, ok bool) {
	q.mu.Lock()
	defer q.unlock()

	now := q.now() // after taking the lock: the next alarm is set relative to now
	e, more := q.alarms.popDue(now)
	if more {
		return key, refused, true
	}
	if e == nil {
		q.setTimerLocked(now)
		q.pending--
		q.closeIfDrainedLocked()
		return key, refused, false
	}
	if e.coolUntil <= now {
		e.coolUntil = 0
	}
	added, isDue := e.delayedRun, e.delayed() && e.delayedUntil <= now
	if isDue {
		q.removeDelayLocked(e)
	}
	if e.nextAlarm() != never {
		q.alarms.set(e, e.nextAlarm())
	}
	key = e.key
	// before the delayed run is merged with a run whose interval may have ended
	q.readyLocked(e, now)
	if isDue {
		return key, q.dirtyLocked(e, added), true
	}
	q.entries.release(e)
	return key, refused, true
}

// discardAlarmsLocked removes all alarms and stops the timer. Delays are discarded. Dirty keys in
// their MinInterval become ready, in the order in which their intervals would have ended.
func (q *Queue[K]) discardAlarmsLocked() {
	q.stats.Discarded += uint64(q.delayed)
	q.delayed = 0
	idle := 0
	var cooled []*entry[K]
	for e := range q.alarms.all {
		q.alarms.unset(e)
		e.delayedUntil, e.delayedRun = 0, run{}
		if e.dirty {
			cooled = append(cooled, e)
			continue
		}
		e.coolUntil = 0
		if e.idle() {
			idle++
		}
	}
	q.alarms = alarms[K]{}
	q.entries.sweep(idle)
	slices.SortStableFunc(cooled, func(a, b *entry[K]) int { return cmp.Compare(a.coolUntil, b.coolUntil) })
	now := q.timeLocked()
	for _, e := range cooled {
		e.coolUntil = 0
		q.readyLocked(e, now)
	}
	if q.timer != nil && q.timer.Stop() {
		q.pending--
	}
}

// beginIntervalLocked begins the MinInterval of a key that was handed out.
func (q *Queue[K]) beginIntervalLocked(e *entry[K], now time.Duration) {
	if q.opts.MinInterval > 0 {
		e.coolUntil = min(addSaturating(now, q.opts.MinInterval), never-1)
	}
}

// holdBackLocked is called when a key's worker is done. It sets the alarm for the end of the key's
// interval. If the interval has passed, or the queue is shutting down, it ends the interval. An
// interval that ends before the worker is done needs no alarm.
func (q *Queue[K]) holdBackLocked(e *entry[K], now time.Duration) {
	if e.coolUntil > now && !q.shuttingDown {
		q.setAlarmLocked(e, now)
		return
	}
	e.coolUntil = 0
	if !e.delayed() { // a remaining alarm is from a cancelled delay
		q.alarms.unset(e)
	}
}

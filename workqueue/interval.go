package workqueue

import "time"

// beginIntervalLocked begins the MinInterval of a key that is handed out.
func (q *Queue[K]) beginIntervalLocked(e *entry[K], now time.Duration) {
	if q.opts.MinInterval > 0 {
		e.cool = min(later(now, q.opts.MinInterval), never-1)
	}
}

// holdBackLocked sets the alarm for the end of the interval of a key whose worker is done, or ends the
// interval if it is over or the queue is shutting down. An interval that ends before its worker is done needs no alarm.
func (q *Queue[K]) holdBackLocked(e *entry[K], now time.Duration) {
	if e.cool > now && !q.shuttingDown {
		q.alarmLocked(e, now)
		return
	}
	e.cool = 0
	if !e.delayed() { // it was, if there is an alarm, until a Cancel
		q.alarms.unset(e)
	}
}

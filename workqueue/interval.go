package workqueue

import "time"

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

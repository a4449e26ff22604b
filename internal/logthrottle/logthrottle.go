// Package logthrottle decides how often a lasting failure is logged: when it starts, when it
// changes its kind, and again every few minutes ([Throttle]).
package logthrottle

import "time"

// Interval is the shortest time between two log lines about a lasting failure.
const Interval = 5 * time.Minute

// Throttle decides when to log the failures of one thing. It remembers which kinds of failure were
// logged. The zero value has logged nothing. It is not safe for concurrent use.
type Throttle struct {
	logged [4]logLine // the last kinds of failure that were logged
	next   int        // the index in logged for the next new kind

	failing         bool      // the current failure was recorded before
	lineWritten     bool      // the current failure was logged
	restartLoggedAt time.Time // when a failure was last logged because it had started again
	suppressed      uint64
}

type logLine struct {
	kind int
	at   time.Time
}

// Due records a failure of a kind, which is a number such as a status code. The result due says
// that the failure should be logged now. The result suppressed is then the number of failures, of
// any kind, that were not logged since the last log line.
//
// A failure is due if its kind was never logged, or if Interval has passed since that. A failure
// that had ended and starts again is also due, at its second occurrence, but only once within
// Interval. Otherwise the last line in the log would say that the failure has ended.
func (r *Throttle) Due(kind int, now time.Time) (suppressed uint64, due bool) {
	repeated := r.failing
	r.failing = true
	s := r.find(kind)
	if recent := !s.at.IsZero() && now.Sub(s.at) < Interval; recent {
		if r.lineWritten || !repeated || now.Sub(r.restartLoggedAt) < Interval {
			r.suppressed++
			return 0, false
		}
		r.restartLoggedAt = now
	}
	*s = logLine{kind, now}
	suppressed, r.suppressed, r.lineWritten = r.suppressed, 0, true
	return suppressed, true
}

// find returns the entry of a kind. A new kind replaces the oldest one.
func (r *Throttle) find(kind int) *logLine {
	for i := range r.logged {
		if s := &r.logged[i]; s.kind == kind && !s.at.IsZero() {
			return s
		}
	}
	s := &r.logged[r.next]
	r.next = (r.next + 1) % len(r.logged)
	*s = logLine{}
	return s
}

// Recovered records that the failure has ended. It reports whether the failure was logged, so that
// its end should be logged as well.
func (r *Throttle) Recovered() (wasLogged bool) {
	wasLogged = r.lineWritten
	r.failing, r.lineWritten = false, false
	return wasLogged
}

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
	next   int        // the index in said for the next new kind

	failing         bool      // the present failure was recorded before
	lineWritten     bool      // the present failure was logged
	restartLoggedAt time.Time // when it was last logged because it had started again
	suppressed      uint64
}

type logLine struct {
	kind int
	at   time.Time
}

// Due records a failure of a kind, which is a number such as a status code. due says that the
// failure should be logged now. unsaid is then the number of failures, of any kind, that were not
// logged since the last log line.
//
// A failure is due if its kind was never logged, or if Interval has passed since. It is also due,
// once within Interval, if the failure was over and is recorded for the second time since it
// started again. Otherwise the last line in the log would say that the failure is over.
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

// Recovered records that the failure is over. It reports whether the failure was logged, so that
// its end should be logged as well.
func (r *Throttle) Recovered() (wasLogged bool) {
	wasLogged = r.lineWritten
	r.failing, r.lineWritten = false, false
	return wasLogged
}

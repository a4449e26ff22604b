// Package remind decides how often a lasting failure is logged: when it starts, when it changes its
// kind, and again every few minutes ([Reminder]).
package remind

import "time"

// Interval is the shortest time between two log lines about a lasting failure.
const Interval = 5 * time.Minute

// Reminder decides when to log the failures of one thing. It remembers which kinds of failure were
// logged. The zero value has logged nothing. It is not safe for concurrent use.
type Reminder struct {
	said [4]said // the last kinds of failure that were logged
	next int     // the index in said for the next new kind

	begun  bool      // the present failure was recorded before
	spoken bool      // the present failure was logged
	again  time.Time // when it was last logged because it had started again
	unsaid uint64
}

type said struct {
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
func (r *Reminder) Due(kind int, now time.Time) (unsaid uint64, due bool) {
	lasts := r.begun
	r.begun = true
	s := r.find(kind)
	if recent := !s.at.IsZero() && now.Sub(s.at) < Interval; recent {
		if r.spoken || !lasts || now.Sub(r.again) < Interval {
			r.unsaid++
			return 0, false
		}
		r.again = now
	}
	*s = said{kind, now}
	unsaid, r.unsaid, r.spoken = r.unsaid, 0, true
	return unsaid, true
}

// find returns the entry of a kind. A new kind replaces the oldest one.
func (r *Reminder) find(kind int) *said {
	for i := range r.said {
		if s := &r.said[i]; s.kind == kind && !s.at.IsZero() {
			return s
		}
	}
	s := &r.said[r.next]
	r.next = (r.next + 1) % len(r.said)
	*s = said{}
	return s
}

// Over records that the failure is over. It reports whether the failure was logged, so that its end
// should be logged as well.
func (r *Reminder) Over() (spoken bool) {
	spoken = r.spoken
	r.begun, r.spoken = false, false
	return spoken
}

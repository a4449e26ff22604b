// Package remind decides how often a trouble that may last for ever is logged: when it begins, when it
// becomes another one, and again every few minutes ([Reminder]).
package remind

import "time"

// Interval is the least time between two log lines about a trouble that lasts.
const Interval = 5 * time.Minute

// Reminder remembers which troubles of one thing were logged. The zero value has logged none. It is not
// safe for concurrent use.
type Reminder struct {
	said [4]said // the last kinds of trouble that were logged
	next int     // the index in said that the next new kind takes

	begun  bool      // the present trouble has been noted before
	spoken bool      // and has been logged
	again  time.Time // when it was logged last because it had begun again
	unsaid uint64
}

type said struct {
	kind int
	at   time.Time
}

// Due takes note of a trouble of a kind, which is a number such as a status code. due says that the
// trouble should be logged now, and unsaid how often it was not since the last time.
//
// A trouble is due if the same kind was never logged, or if Interval has passed since. It is due as well,
// once within Interval, if the trouble was over, has begun again, and is noted for the second time:
// otherwise the last line in the log would say that it is over.
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

// find returns the place of a kind: its own, or that of the oldest kind, which is forgotten.
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

// Over takes note that the trouble is over. It reports whether the trouble was logged, so that its end is
// worth a line as well.
func (r *Reminder) Over() (spoken bool) {
	spoken = r.spoken
	r.begun, r.spoken = false, false
	return spoken
}

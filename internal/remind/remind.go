// Package remind decides how often the log says something that may go on for ever: when it
// begins, when it becomes something else, and again every few minutes ([Reminder]).
package remind

import "time"

// Interval is for how long what lasts is not said again.
const Interval = 5 * time.Minute

// Reminder remembers what was said of one thing that may be in trouble. The zero value
// has said nothing. It is not safe for concurrent use.
type Reminder struct {
	said [4]said // the last kinds of trouble that were said
	next int     // of said

	begun  bool      // the trouble that lasts now has been there before
	spoken bool      // and has been said
	again  time.Time // when it was said last because it had begun again
	unsaid uint64
}

type said struct {
	kind int
	at   time.Time
}

// Due takes note of a trouble, of any kind that is a number, such as a status code, and
// reports whether it is time to say so, and how often it was not since the last time.
//
// It is time when Interval has passed since the same kind was said, or it never was. It
// is time as well, once within Interval, when the trouble was over since then, begins
// again, and lasts until the second time: else the last word would be that it is over.
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

// find returns the place of a kind: its own, or the one whose turn it is to be forgotten.
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

// Over takes note that the trouble is over, and reports whether it was said, so that
// this is worth a line as well.
func (r *Reminder) Over() (spoken bool) {
	spoken = r.spoken
	r.begun, r.spoken = false, false
	return spoken
}

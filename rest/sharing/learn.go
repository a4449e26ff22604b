package sharing

import "sync/atomic"

// How a field's look-ups are judged.
const (
	// window is how many look-ups make a judgement, of strings more, since these are
	// found only the third time; retrial is how many do after a pause.
	window, textWindow, retrial = 512, 1024, 128
	// objectsPerReport is how many objects a goroutine decodes before its counts
	// are added to everybody's.
	objectsPerReport = 32
	// firstPause is for how many reports a field is left alone that was judged not
	// to be worth it; each further time it is twice as long, up to lastPause.
	firstPause, lastPause = 64, 1 << 14
)

// lesson is what is known of one field: whether it is worth a look-up.
type lesson struct {
	id     int    // index among all lessons
	worth  uint32 // one hit in so many look-ups is enough
	window uint32 // so many look-ups make the first judgement
	look   atomic.Bool
	paused atomic.Int64 // until this many reports
	pause  atomic.Int64

	hits, lookups atomic.Uint32 // in the current window
}

// count is what one goroutine has seen of a field since its last report.
type count struct{ hits, lookups uint32 }

// add adds counts and judges at the end of a window.
func (l *lesson) add(c count, reports int64) {
	hits, lookups := l.hits.Add(c.hits), l.lookups.Add(c.lookups)
	if lookups < retrial || lookups < l.window && l.pause.Load() == 0 {
		return
	}
	l.hits.Store(0)
	l.lookups.Store(0)
	if hits*l.worth >= lookups {
		l.pause.Store(0)
		return
	}
	pause := min(max(2*l.pause.Load(), firstPause), lastPause)
	l.pause.Store(pause)
	l.paused.Store(reports + pause)
	l.look.Store(false)
}

// resume tries a field again whose pause is over.
func (l *lesson) resume(reports int64) {
	if !l.look.Load() && l.paused.Load() <= reports {
		l.look.Store(true)
	}
}

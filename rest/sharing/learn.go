package sharing

import "sync/atomic"

// These constants say after how many look-ups a decoder decides whether to look up a field, and how
// long it then pauses.
const (
	// These are numbers of look-ups before a decision. The first decision needs window look-ups.
	// For strings it needs textWindow, because a string is found only at its third occurrence. A
	// decision after a pause needs retrial.
	window, textWindow, retrial = 512, 1024, 128
	// objectsPerReport is how many objects a goroutine decodes before it adds its counts to the
	// counts of all goroutines.
	objectsPerReport = 32
	// If look-ups of a field seldom find a value, the field is not looked up for firstPause
	// reports. Each further pause is twice as long, up to lastPause.
	firstPause, lastPause = 64, 1 << 14
)

// lesson decides whether look-ups of one field are worth their time, and has the counts for this
// decision.
type lesson struct {
	id     int    // index among all lessons
	worth  uint32 // one hit in this many look-ups is enough
	window uint32 // look-ups before the first decision
	fixed  bool   // objects share the field even with the policy Immutable
	look   atomic.Bool
	paused atomic.Int64 // the report at which the pause ends
	pause  atomic.Int64

	hits, lookups atomic.Uint32 // in the current window
}

// count has the look-ups of one goroutine in a field since its last report.
type count struct{ hits, lookups uint32 }

// add adds counts, and decides at the end of a window whether to pause.
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

// resume allows look-ups of a field again if its pause is over.
func (l *lesson) resume(reports int64) {
	if !l.look.Load() && l.paused.Load() <= reports {
		l.look.Store(true)
	}
}

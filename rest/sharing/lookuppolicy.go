package sharing

import "sync/atomic"

// These constants say after how many look-ups a decoder decides whether to look up a field, and how
// long it then pauses.
const (
	// These are numbers of look-ups before a decision. The first decision needs window look-ups.
	// For strings it needs textWindow, because a string is found only at its third occurrence. A
	// decision after a pause needs retryWindow.
	window, textWindow, retryWindow = 512, 1024, 128
	// objectsPerFlush is how many objects a goroutine decodes before it adds its counts to the
	// counts of all goroutines.
	objectsPerFlush = 32
	// If look-ups of a field seldom find a value, the field is not looked up for firstPause flushes
	// of counts. Each further pause is twice as long, up to lastPause.
	firstPause, lastPause = 64, 1 << 14
)

// lookupPolicy decides whether look-ups of one field are worth their time, and has the counts for
// this decision.
type lookupPolicy struct {
	id            int    // index in the decoder's lookupPolicies
	lookupsPerHit uint32 // one hit in this many look-ups avoids a pause
	window        uint32 // look-ups before the first decision
	immutable     bool   // objects share the field even with the policy Immutable
	enabled       atomic.Bool
	pausedUntil   atomic.Int64 // the flush at which the pause ends
	pauseLength   atomic.Int64

	hits, lookups atomic.Uint32 // in the current window
}

// lookupCount counts the look-ups of one field by one goroutine since its last flush.
type lookupCount struct{ hits, lookups uint32 }

// add adds counts, and decides at the end of a window whether to pause.
func (l *lookupPolicy) add(c lookupCount, flushes int64) {
	hits, lookups := l.hits.Add(c.hits), l.lookups.Add(c.lookups)
	if lookups < retryWindow || lookups < l.window && l.pauseLength.Load() == 0 {
		return
	}
	l.hits.Store(0)
	l.lookups.Store(0)
	if hits*l.lookupsPerHit >= lookups {
		l.pauseLength.Store(0)
		return
	}
	pause := min(max(2*l.pauseLength.Load(), firstPause), lastPause)
	l.pauseLength.Store(pause)
	l.pausedUntil.Store(flushes + pause)
	l.enabled.Store(false)
}

// resume allows look-ups of a field again if its pause is over.
func (l *lookupPolicy) resume(flushes int64) {
	if !l.enabled.Load() && l.pausedUntil.Load() <= flushes {
		l.enabled.Store(true)
	}
}

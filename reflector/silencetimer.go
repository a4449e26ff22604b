package reflector

import (
	"context"
	"math"
	"sync/atomic"
	"time"
)

// silenceTimer ends a request whose stream is silent for too long. Only the time in which the
// reflector waits for the stream counts: a slow sink does not make a stream silent. The methods of
// a nil *silenceTimer do nothing.
type silenceTimer struct {
	limit  time.Duration
	end    context.CancelCauseFunc
	reason error
	began  time.Time
	timer  *time.Timer

	// waitStart is when the current wait began, as a duration after began. If no wait runs, its
	// value is notWaiting, timerUnset or timerStopped.
	waitStart atomic.Int64

	// The fields below belong to the waiting goroutine.

	lastStart int64         // the value of waitStart in the last wait
	useless   time.Duration // how long the waits that ended with useless events lasted
}

const (
	notWaiting   = -1 // no wait runs at present
	timerStopped = -2 // stop was called
	timerUnset   = -3 // no wait runs at present, and the timer is not set
)

// newSilenceTimer returns a silenceTimer whose first wait starts now. When a wait has lasted for
// the duration limit, a separate goroutine calls the function end with the error reason. If limit
// is negative, newSilenceTimer returns nil.
func newSilenceTimer(limit time.Duration, end context.CancelCauseFunc, reason error) *silenceTimer {
	if limit < 0 {
		return nil
	}
	s := &silenceTimer{limit: limit, end: end, reason: reason, began: time.Now()}
	s.timer = time.AfterFunc(math.MaxInt64, func() { s.check() })
	s.timer.Reset(limit)
	return s
}

// wait records that the reflector begins to wait for the stream. It sets the timer if check could
// not do so between two waits.
func (s *silenceTimer) wait() {
	if s != nil && s.waitStart.Swap(int64(time.Since(s.began)-s.useless)) == timerUnset {
		s.reset(s.limit - s.useless)
	}
}

// received ends the wait, because the stream has sent something.
func (s *silenceTimer) received() {
	if s != nil {
		s.lastStart, s.useless = s.waitStart.Swap(notWaiting), 0
	}
}

// ignoreLast is called after received if the event was useless. The next wait then counts from the
// start of the last wait.
func (s *silenceTimer) ignoreLast() {
	if s != nil {
		s.useless = time.Since(s.began) - time.Duration(s.lastStart)
	}
}

// progress restarts the current wait, if any, because another goroutine has received something from
// the stream. It may be called from any goroutine.
func (s *silenceTimer) progress() {
	if s == nil {
		return
	}
	if since := s.waitStart.Load(); since >= 0 {
		s.waitStart.CompareAndSwap(since, int64(time.Since(s.began)))
	}
}

// stop stops the timer for good. It may be called again.
func (s *silenceTimer) stop() {
	if s != nil {
		s.waitStart.Store(timerStopped)
		s.timer.Stop()
	}
}

// check ends the request if the limit has passed, and otherwise sets the timer to the earliest
// possible end. Between two waits it leaves the timer unset: the next call of wait sets it. While
// events are frequent, this saves two calls of the runtime for each event.
func (s *silenceTimer) check() {
	since := s.waitStart.Load()
	if since == timerStopped {
		return
	}
	if since == notWaiting {
		if !s.waitStart.CompareAndSwap(notWaiting, timerUnset) {
			s.check() // a wait began meanwhile, or stop was called
		}
		return
	}
	if left := s.limit - (time.Since(s.began) - time.Duration(since)); left > 0 {
		s.reset(left)
		return
	}
	s.end(s.reason)
}

// reset sets the timer for the duration left. If stop was called meanwhile, it stops the timer, so
// that no timer outlives a call of stop.
func (s *silenceTimer) reset(left time.Duration) {
	s.timer.Reset(left)
	if s.waitStart.Load() == timerStopped {
		s.timer.Stop()
	}
}

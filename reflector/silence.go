package reflector

import (
	"context"
	"math"
	"sync/atomic"
	"time"
)

// silence ends a request whose stream is silent for too long. Only the time in which the reflector
// waits for the stream counts: a slow sink does not make a stream silent. A nil *silence does
// nothing.
type silence struct {
	limit  time.Duration
	end    context.CancelCauseFunc
	reason error
	began  time.Time
	timer  *time.Timer

	// since is when the current wait began, as a duration after began. If no wait runs, its value
	// is one of the constants idle, unset and over.
	since atomic.Int64

	// The fields below belong to the waiting goroutine.

	from  int64         // the value of since in the last wait
	spent time.Duration // the waits that ended with useless events
}

const (
	idle  = -1 // no wait runs at present
	over  = -2 // stop was called
	unset = -3 // no wait runs at present, and the timer is not set
)

// listen returns a silence whose first wait starts now. When a wait has lasted for the duration
// limit, a separate goroutine calls the function end with the error reason. If limit is negative,
// listen returns nil.
func listen(limit time.Duration, end context.CancelCauseFunc, reason error) *silence {
	if limit < 0 {
		return nil
	}
	s := &silence{limit: limit, end: end, reason: reason, began: time.Now()}
	s.timer = time.AfterFunc(math.MaxInt64, func() { s.check() })
	s.timer.Reset(limit)
	return s
}

// wait records that the reflector begins to wait for the stream. It sets the timer if check could
// not do so between two waits.
func (s *silence) wait() {
	if s != nil && s.since.Swap(int64(time.Since(s.began)-s.spent)) == unset {
		s.again(s.limit - s.spent)
	}
}

// heard ends the wait, because something has come on the stream.
func (s *silence) heard() {
	if s != nil {
		s.from, s.spent = s.since.Swap(idle), 0
	}
}

// inVain is called after heard if the event was useless. The next wait then counts from the start
// of the last wait.
func (s *silence) inVain() {
	if s != nil {
		s.spent = time.Since(s.began) - time.Duration(s.from)
	}
}

// progress restarts the current wait, if any, because another goroutine has received something from
// the stream. It may be called from any goroutine.
func (s *silence) progress() {
	if s == nil {
		return
	}
	if since := s.since.Load(); since >= 0 {
		s.since.CompareAndSwap(since, int64(time.Since(s.began)))
	}
}

// stop stops the timer for good. It may be called again.
func (s *silence) stop() {
	if s != nil {
		s.since.Store(over)
		s.timer.Stop()
	}
}

// check ends the request if the limit has passed, and otherwise sets the timer to the earliest
// possible end. Between two waits it leaves that to wait, because only the next wait shows how much
// time it has left. While events are frequent, this saves two calls to the runtime for each event.
func (s *silence) check() {
	since := s.since.Load()
	if since == over {
		return
	}
	if since == idle {
		if !s.since.CompareAndSwap(idle, unset) {
			s.check() // a wait began meanwhile, or stop was called
		}
		return
	}
	if left := s.limit - (time.Since(s.began) - time.Duration(since)); left > 0 {
		s.again(left)
		return
	}
	s.end(s.reason)
}

// again sets the timer for the duration left. If stop was called meanwhile, it stops the timer, so
// that no timer outlives a call of stop.
func (s *silence) again(left time.Duration) {
	s.timer.Reset(left)
	if s.since.Load() == over {
		s.timer.Stop()
	}
}

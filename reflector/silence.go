package reflector

import (
	"context"
	"math"
	"sync/atomic"
	"time"
)

// silence ends a request whose stream is silent for too long. Only the time counts in which
// the reflector waits for the stream: a slow sink is no silence of the stream. A nil silence
// never ends a request.
type silence struct {
	limit  time.Duration
	end    context.CancelCauseFunc
	reason error
	began  time.Time
	timer  *time.Timer

	// since is when the wait began, as a duration after began; idle or over if nobody
	// waits.
	since atomic.Int64

	// The following fields belong to the waiting goroutine.

	from  int64         // since, of the last wait
	spent time.Duration // in waits whose events were of no use
}

const (
	idle = -1 // for now
	over = -2 // for good
)

// listen returns a silence whose first wait begins now. When a wait has lasted for limit, it
// calls end with reason, from a goroutine of its own. It returns nil if limit is negative.
func listen(limit time.Duration, end context.CancelCauseFunc, reason error) *silence {
	if limit < 0 {
		return nil
	}
	s := &silence{limit: limit, end: end, reason: reason, began: time.Now()}
	s.timer = time.AfterFunc(math.MaxInt64, func() { s.check() })
	s.timer.Reset(limit)
	return s
}

// wait begins a wait.
func (s *silence) wait() {
	if s != nil {
		s.since.Store(int64(time.Since(s.began) - s.spent))
	}
}

// heard ends the wait: the stream has brought something.
func (s *silence) heard() {
	if s != nil {
		s.from, s.spent = s.since.Swap(idle), 0
	}
}

// inVain says, after heard, that the event was of no use. The next wait then continues the
// last one.
func (s *silence) inVain() {
	if s != nil {
		s.spent = time.Since(s.began) - time.Duration(s.from)
	}
}

// progress says that another goroutine than the waiting one has heard the stream: if there is
// a wait, it begins anew. It may be called from any goroutine.
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

// check ends the request if the limit has passed, and otherwise sets the timer to the next
// possible moment. Setting it only here saves two calls to the runtime for each event.
func (s *silence) check() {
	left := s.limit
	switch since := s.since.Load(); since {
	case over:
		return
	case idle:
	default:
		left -= time.Since(s.began) - time.Duration(since)
	}
	if left > 0 {
		s.again(left)
		return
	}
	s.end(s.reason)
}

// again sets the timer, unless stop was called meanwhile: no timer outlives stop.
func (s *silence) again(left time.Duration) {
	s.timer.Reset(left)
	if s.since.Load() == over {
		s.timer.Stop()
	}
}

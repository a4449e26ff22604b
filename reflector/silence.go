package reflector

import (
	"context"
	"math"
	"sync/atomic"
	"time"
)

// silence ends a request when its stream says nothing for too long. Only the time
// counts for which somebody waits for the stream: the stream is not to blame for a slow
// sink. A nil silence never ends a request.
type silence struct {
	limit  time.Duration
	end    context.CancelCauseFunc
	reason error
	began  time.Time
	timer  *time.Timer

	// since is when the wait began, after began; idle or over where nobody waits.
	since atomic.Int64

	// The following fields belong to the waiting goroutine.

	from  int64         // since of the last wait
	spent time.Duration // in waits that ended in vain
}

const (
	idle = -1 // for now
	over = -2 // for good
)

// listen makes a silence that calls end with reason, from a goroutine of its own,
// when limit has passed since somebody began to wait, which is now. It is nil if
// limit is negative.
func listen(limit time.Duration, end context.CancelCauseFunc, reason error) *silence {
	if limit < 0 {
		return nil
	}
	s := &silence{limit: limit, end: end, reason: reason, began: time.Now()}
	s.timer = time.AfterFunc(math.MaxInt64, s.check)
	s.timer.Reset(limit)
	return s
}

// wait says that somebody waits from now on.
func (s *silence) wait() {
	if s != nil {
		s.since.Store(int64(time.Since(s.began) - s.spent))
	}
}

// heard says that nobody waits any more.
func (s *silence) heard() {
	if s != nil {
		s.from, s.spent = s.since.Swap(idle), 0
	}
}

// inVain says, after heard, that the event was of no use: the next wait continues the
// wait that has ended.
func (s *silence) inVain() {
	if s != nil {
		s.spent = time.Since(s.began) - time.Duration(s.from)
	}
}

// progress says, from any goroutine, that another goroutine than the waiting one has
// heard the stream, if any goroutine waits.
func (s *silence) progress() {
	if s == nil {
		return
	}
	if since := s.since.Load(); since >= 0 {
		s.since.CompareAndSwap(since, int64(time.Since(s.began)))
	}
}

// stop ends it. It does no harm to call it again.
func (s *silence) stop() {
	if s != nil {
		s.since.Store(over)
		s.timer.Stop()
	}
}

// check looks whether the time has come, and else when it may come. To set the
// timer only here spares two calls to the runtime for each event.
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

// again has check called once more, unless stop has come meanwhile: no timer outlives it.
func (s *silence) again(left time.Duration) {
	s.timer.Reset(left)
	if s.since.Load() == over {
		s.timer.Stop()
	}
}

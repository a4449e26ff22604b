package informer

import (
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kinform/kinform/internal/remind"
)

// slowAfter is how long an event waits in a mailbox that was full before its handler is
// called slow. A relist, a resync or a burst fills a mailbox at once, and a handler that
// keeps up has emptied it long before.
const slowAfter = 10 * time.Second

// lag is how far a handler is behind, as far as the log is concerned. Writer and reader
// of the mailbox both look, as one of them may be stuck. The zero value is not behind.
type lag struct {
	behind atomic.Bool // from when the mailbox is full until it is empty

	mu     sync.Mutex // guards following
	said   time.Time  // that the handler is slow
	spoken bool       // and not yet that it has caught up
}

// isSlow reports whether it is time to say that the handler is slow, when an event has
// waited for so long. A handler that is slow now and then is called so every few minutes.
func (l *lag) isSlow(waited time.Duration, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if waited < slowAfter || !l.said.IsZero() && now.Sub(l.said) < remind.Interval {
		return false
	}
	l.said, l.spoken = now, true
	return true
}

// over takes note that the mailbox is empty, and reports whether it was said that the
// handler is slow.
func (l *lag) over() (spoken bool) {
	l.behind.Store(false)
	l.mu.Lock()
	defer l.mu.Unlock()
	spoken, l.spoken = l.spoken, false
	return spoken
}

// sayIfSlow says that the handler is slow, if it is time to, when an event has waited for
// so long and this many wait.
func (l *lag) sayIfSlow(logger *slog.Logger, informer, handler string, overflow Overflow, waited time.Duration, waiting int) {
	if l.isSlow(waited, time.Now()) {
		logger.Warn("handler is slow: events wait for it", "informer", informer, "handler", handler,
			"waiting", waiting, "oldest", waited.Truncate(time.Millisecond), "meanwhile", overflow.effect())
	}
}

// sayIfOver says that a handler that was called slow is so no more.
func (l *lag) sayIfOver(logger *slog.Logger, informer, handler string) {
	if l.over() {
		logger.Info("handler has caught up", "informer", informer, "handler", handler)
	}
}

// effect says what is done while a handler is behind.
func (o Overflow) effect() string {
	switch o {
	case Coalesce:
		return "events of one object are merged"
	case Block:
		return "the informer and its other handlers wait"
	default:
		return "memory grows with each event"
	}
}

package informer

import (
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kinform/kinform/internal/logthrottle"
)

// slowAfter is how long an event must wait, in a mailbox that was full, before the handler counts
// as slow. A relist, a resync or a burst fills a mailbox at once, and a handler that keeps up
// empties it sooner.
const slowAfter = 10 * time.Second

// lag decides when to log that a handler is behind. Both the writer and the reader of the mailbox
// check, because one of them may be blocked. The zero value means not behind.
type lag struct {
	behind atomic.Bool // true from a full mailbox until it is empty

	mu       sync.Mutex // guards following
	loggedAt time.Time  // when a slow handler was last logged
	logged   bool       // logged as slow, and not yet as caught up
}

// isSlow reports whether a log line about the slow handler is due, given how long an event has
// waited. A handler that is slow now and then is logged only every few minutes.
func (l *lag) isSlow(waited time.Duration, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if waited < slowAfter || !l.loggedAt.IsZero() && now.Sub(l.loggedAt) < logthrottle.Interval {
		return false
	}
	l.loggedAt, l.logged = now, true
	return true
}

// caughtUp records that the mailbox is empty, and reports whether the handler was logged as slow.
func (l *lag) caughtUp() (logged bool) {
	l.behind.Store(false)
	l.mu.Lock()
	defer l.mu.Unlock()
	logged, l.logged = l.logged, false
	return logged
}

// logIfSlow logs that the handler is slow, if isSlow returns true. The argument waited is the age
// of the oldest event, and the argument waiting is the number of events.
func (l *lag) logIfSlow(logger *slog.Logger, informer, handler string, overflow Overflow, waited time.Duration, waiting int) {
	if l.isSlow(waited, time.Now()) {
		logger.Warn("handler is slow, and events wait", "informer", informer, "handler", handler,
			"waiting", waiting, "oldest", waited.Truncate(time.Millisecond), "meanwhile", overflow.effect())
	}
}

// logIfCaughtUp logs that the handler has caught up, if it was logged as slow.
func (l *lag) logIfCaughtUp(logger *slog.Logger, informer, handler string) {
	if l.caughtUp() {
		logger.Info("handler has caught up", "informer", informer, "handler", handler)
	}
}

// effect describes the effect of the policy while a handler is behind.
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

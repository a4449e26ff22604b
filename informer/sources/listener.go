package sources

import (
	"math"
	"sync/atomic"
	"time"

	"github.com/kinform/kinform/listwatch"
)

// listener enforces the time limit of one stream, for a reader that waits for several streams
// together. It calls the function silent, in a separate goroutine, when the reader has waited too
// long for this stream. Until then it reports progress, so that the reader's own limit does not end
// the wait. A nil listener has no limit.
type listener struct {
	limit  atomic.Int64
	others func() // is called on progress
	silent func()
	timer  *time.Timer
	began  time.Time

	// since is the start of the wait, as a duration since the time in the field began. It may also
	// be one of the constants nobodyWaits and stoppedListening.
	since atomic.Int64
}

const (
	nobodyWaits      = -1
	stoppedListening = -2
)

// listenTo makes a listener whose wait begins now.
func listenTo(patience listwatch.Patience, silent func()) *listener {
	if patience.Limit <= 0 {
		return nil
	}
	l := &listener{others: patience.Progress, silent: silent, began: time.Now()}
	l.limit.Store(int64(patience.Limit))
	l.timer = time.AfterFunc(math.MaxInt64, func() { l.check() })
	l.timer.Reset(patience.Limit / 2)
	return l
}

// wait records that the reader begins to wait.
func (l *listener) wait() {
	if l != nil {
		l.since.Store(int64(time.Since(l.began)))
	}
}

// heard records that the wait is over.
func (l *listener) heard() {
	if l != nil {
		l.since.Store(nobodyWaits)
	}
}

// progress restarts the wait. The stream calls progress when it receives something.
func (l *listener) progress() {
	if l == nil {
		return
	}
	if since := l.since.Load(); since >= 0 {
		l.since.CompareAndSwap(since, int64(time.Since(l.began)))
	}
	l.tell()
}

// tell reports progress to the reader of all streams.
func (l *listener) tell() {
	if l.others != nil {
		l.others()
	}
}

// setLimit changes the limit from now on. 0 or less means no limit.
func (l *listener) setLimit(limit time.Duration) {
	if l == nil {
		return
	}
	if limit <= 0 {
		limit = math.MaxInt64
	}
	l.limit.Store(int64(limit))
	l.timer.Reset(limit / 2)
}

// stop stops the listener.
func (l *listener) stop() {
	if l != nil {
		l.since.Store(stoppedListening)
		l.timer.Stop()
	}
}

// check is called twice within the limit, so that the reader of all streams gets progress in time.
func (l *listener) check() {
	since := l.since.Load()
	if since == stoppedListening {
		return
	}
	limit := time.Duration(l.limit.Load())
	next := limit / 2
	if since >= 0 {
		left := limit - (time.Since(l.began) - time.Duration(since))
		if left <= 0 {
			l.silent()
			return
		}
		next = min(next, left)
		l.tell()
	}
	l.timer.Reset(next)
	if l.since.Load() == stoppedListening {
		l.timer.Stop() // stop was called meanwhile.
	}
}

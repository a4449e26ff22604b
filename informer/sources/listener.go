package sources

import (
	"math"
	"sync/atomic"
	"time"

	"github.com/kinform/kinform/listwatch"
)

// listener holds one of several streams to the patience of who waits for all of them:
// it calls silent, from a goroutine of its own, when somebody has waited for too long.
// While that has not come, it says that there is progress, as the end of this stream
// is its own business. nil is a listener with all patience.
type listener struct {
	limit  atomic.Int64
	others func() // is called where there is progress
	silent func()
	timer  *time.Timer
	began  time.Time

	// since is when the wait began, after began, or nobodyWaits, or stoppedListening.
	since atomic.Int64
}

const (
	nobodyWaits      = -1
	stoppedListening = -2
)

// listenTo makes a listener for somebody who waits from now on.
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

// wait says that somebody waits from now on.
func (l *listener) wait() {
	if l != nil {
		l.since.Store(int64(time.Since(l.began)))
	}
}

// heard says that nobody waits any more.
func (l *listener) heard() {
	if l != nil {
		l.since.Store(nobodyWaits)
	}
}

// progress says that the wait begins anew, for a reason that somebody else knows.
func (l *listener) progress() {
	if l == nil {
		return
	}
	if since := l.since.Load(); since >= 0 {
		l.since.CompareAndSwap(since, int64(time.Since(l.began)))
	}
	l.tell()
}

// tell says to who waits for all streams that there is progress.
func (l *listener) tell() {
	if l.others != nil {
		l.others()
	}
}

// setLimit changes the patience from now on. 0 or less means for ever.
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

// stop ends it.
func (l *listener) stop() {
	if l != nil {
		l.since.Store(stoppedListening)
		l.timer.Stop()
	}
}

// check is called twice within the limit, so that who waits for all of the streams hears
// of this one in time.
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
		l.timer.Stop() // stop has come in between.
	}
}

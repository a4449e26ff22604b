package sources

import (
	"math"
	"sync/atomic"
	"time"

	"github.com/kinform/kinform/listwatch"
)

// silenceTimer enforces the time limit of one stream, for a reader that waits for several streams
// together. It calls onSilence, in a separate goroutine, when the reader has waited too long for
// this stream. Until then it calls onProgress, so that the reader's own limit does not end the
// wait. A nil silenceTimer has no limit.
type silenceTimer struct {
	limit      atomic.Int64
	onProgress func() // is called on progress
	onSilence  func()
	timer      *time.Timer
	began      time.Time

	// waitStart is the start of the wait, as a duration since the time in the field began. It may
	// also be one of the constants notWaiting and timerStopped.
	waitStart atomic.Int64
}

const (
	notWaiting   = -1
	timerStopped = -2
)

// newSilenceTimer returns a timer whose wait begins now, or nil if there is no limit.
func newSilenceTimer(patience listwatch.IdleTimeout, silent func()) *silenceTimer {
	if patience.Limit <= 0 {
		return nil
	}
	l := &silenceTimer{onProgress: patience.Progress, onSilence: silent, began: time.Now()}
	l.limit.Store(int64(patience.Limit))
	l.timer = time.AfterFunc(math.MaxInt64, func() { l.check() })
	l.timer.Reset(patience.Limit / 2)
	return l
}

// wait records that the reader begins to wait.
func (l *silenceTimer) wait() {
	if l != nil {
		l.waitStart.Store(int64(time.Since(l.began)))
	}
}

// received records that the wait is over.
func (l *silenceTimer) received() {
	if l != nil {
		l.waitStart.Store(notWaiting)
	}
}

// progress restarts the wait. The stream calls progress when it receives something.
func (l *silenceTimer) progress() {
	if l == nil {
		return
	}
	if since := l.waitStart.Load(); since >= 0 {
		l.waitStart.CompareAndSwap(since, int64(time.Since(l.began)))
	}
	l.notifyProgress()
}

// notifyProgress reports progress to the reader of all streams.
func (l *silenceTimer) notifyProgress() {
	if l.onProgress != nil {
		l.onProgress()
	}
}

// setLimit changes the limit from now on. 0 or less means no limit.
func (l *silenceTimer) setLimit(limit time.Duration) {
	if l == nil {
		return
	}
	if limit <= 0 {
		limit = math.MaxInt64
	}
	l.limit.Store(int64(limit))
	l.timer.Reset(limit / 2)
}

// stop stops the timer. A check in progress may still call onSilence.
func (l *silenceTimer) stop() {
	if l != nil {
		l.waitStart.Store(timerStopped)
		l.timer.Stop()
	}
}

// check is called twice within the limit, so that the reader of all streams gets progress in time.
func (l *silenceTimer) check() {
	since := l.waitStart.Load()
	if since == timerStopped {
		return
	}
	limit := time.Duration(l.limit.Load())
	next := limit / 2
	if since >= 0 {
		left := limit - (time.Since(l.began) - time.Duration(since))
		if left <= 0 {
			l.onSilence()
			return
		}
		next = min(next, left)
		l.notifyProgress()
	}
	l.timer.Reset(next)
	if l.waitStart.Load() == timerStopped {
		l.timer.Stop() // stop was called meanwhile.
	}
}

package workqueue

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/kinform/kinform/internal/logthrottle"
)

// maxLines is how many failures are logged individually within logthrottle.Interval.
const maxLines = 10

// failureLog limits the log lines about failed reconciles. A key that begins to fail gets a line,
// up to maxLines. Every few minutes a line counts the other failures. The zero value has logged
// nothing.
type failureLog struct {
	mu         sync.Mutex // guards following
	since      time.Time  // the beginning of the current interval
	lines      int
	suppressed uint64
}

// record records a failure. The argument first is true if the previous run of the key did not fail.
// The result line says whether the failure gets a line of its own. If suppressed is positive, a
// line must summarise this number of failures, which got no line since the time since.
func (f *failureLog) record(first bool, now time.Time) (line bool, suppressed uint64, since time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.since.IsZero() || now.Sub(f.since) >= logthrottle.Interval {
		suppressed, since = f.suppressed, f.since
		f.since, f.lines, f.suppressed = now, 0, 0
	}
	if first && f.lines < maxLines {
		f.lines++
		return true, suppressed, since
	}
	f.suppressed++
	return false, suppressed, since
}

// report counts and logs a failure, and calls OnError. The argument dropped says that the key is
// not retried.
func (q *Queue[K]) report(ctx context.Context, msg string, dropped bool, key K, err error) {
	_, panicked := errors.AsType[*PanicError](err)
	requeues := q.NumRequeues(key)
	line, suppressed, since := q.failureLog.record(requeues == 0 || dropped, time.Now())
	level := slog.LevelDebug
	if line {
		level = slog.LevelWarn
		if panicked {
			level = slog.LevelError
		}
	}
	if suppressed > 0 {
		q.logAttrs(ctx, slog.LevelWarn, "reconciles keep failing", slog.String("queue", q.opts.Name),
			slog.Uint64("failures", suppressed), slog.Time("since", since), slog.Any("key", key), slog.Any("err", err))
	}
	q.log(ctx, level, msg, key, err, slog.Int("requeues", requeues))

	q.mu.Lock()
	q.stats.Failures++
	if panicked {
		q.stats.Panics++
	}
	q.mu.Unlock()

	q.opts.Observer.failed(key, err)
}

// log writes one line about a key, with the stack if the error is a panic.
func (q *Queue[K]) log(ctx context.Context, level slog.Level, msg string, key K, err error, more ...slog.Attr) {
	enabled := false
	q.hooks.Call("Options.Logger", func() { enabled = q.opts.Logger.Enabled(ctx, level) })
	if !enabled {
		return
	}
	attrs := append([]slog.Attr{slog.String("queue", q.opts.Name), slog.Any("key", key), slog.Any("err", err)}, more...)
	if panicked, ok := errors.AsType[*PanicError](err); ok {
		attrs = append(attrs, slog.String("stack", string(panicked.Stack)))
	}
	q.logAttrs(ctx, level, msg, attrs...)
}

// logAttrs writes a line. A custom Logger is contained like a hook.
func (q *Queue[K]) logAttrs(ctx context.Context, level slog.Level, msg string, attrs ...slog.Attr) {
	q.hooks.Call("Options.Logger", func() { q.opts.Logger.LogAttrs(ctx, level, msg, attrs...) })
}

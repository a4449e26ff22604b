package workqueue

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/kinform/kinform/internal/contain"
)

// Run works on the queue's keys with this many workers, each calling reconcile
// for one key at a time, until ctx ends. By the result of reconcile:
//
//   - nil: the key is forgotten by the rate limiter.
//   - RequeueAfter(d): the same, and the key is added again after d.
//   - RequeueWhen(until): the same, and the key is added again when until returns.
//   - Drop(err): the error is logged and told to Observer.OnError, and the key is
//     forgotten: nobody could mend it by trying again. See Options.Logger for how
//     often failures are logged.
//   - any other error: the same, but that the key is added again, rate-limited.
//
// A result may be wrapped, and it may be several in one, as errors.Join makes it:
//
//   - An error that is neither a wish nor dropped wins: the whole result is reported as
//     it is, the key keeps its failures and is added again, rate-limited. Wishes beside
//     it are not granted, as its turn comes anyway.
//   - Of errors that are all dropped the key is forgotten; wishes beside them are granted.
//     Drop of a wish is that wish.
//   - Of several RequeueAfter the earliest counts, and of several RequeueWhen all are
//     waited for. RequeueWhen wins over RequeueAfter.
//
// A key that is added again keeps the priority and causes of its turn.
//
// A panic in reconcile becomes such an error, a *PanicError that is logged with
// its stack: one key that cannot be worked on does not end the process, nor the
// work on all others. Where a panic should end the process, let reconcile recover
// and exit. A call of runtime.Goexit, as in testing's FailNow, is such an error as
// well, and another worker takes the place of the one that it ends. The same holds
// for an error whose Unwrap, Is, As or Error panics, or whose Unwrap never ends: the
// failure is a *PanicError in its place. A nil pointer of an error type is a failure,
// whose text says so.
//
// When ctx ends, everything ends: the context of every reconcile ends at once,
// with the same cause, no further key is begun, and the queue is shut down with
// the keys that are in it. Run returns nil when the reconciles and the waits of Park that were
// going on have returned, so it waits for one that ignores its context. An error that these
// return because their context has ended is no failure. No reconcile writes on with a
// context that outlives ctx, so it is safe for ctx to end when a lease is lost. To
// finish the keys that are queued is a choice: see RunUntil.
//
// If the queue is shut down by someone else, Run returns nil as soon as it is
// drained, or as above when ctx ends. SetWorkers changes the number of workers
// meanwhile. Only one Run at a time: a second returns an error.
func (q *Queue[K]) Run(ctx context.Context, workers int, reconcile func(context.Context, K) error) error {
	return q.RunUntil(ctx, ctx, workers, reconcile)
}

// RunUntil is Run with two ends, for programs that want to finish the keys that are queued:
//
//   - When stop ends, the queue is shut down, and the workers go on with the keys that are
//     queued, but not with delayed keys, nor with keys that fail then. The contexts of
//     reconcile live on until that is done, for at most Options.DrainTimeout.
//   - When ctx ends, before or after stop, everything ends at once, as in Run.
//
// So why the work ends decides how: stop is for a process that is asked to end
// (SIGTERM), ctx is for the right to write. A leader passes the context that ends
// with the lease as ctx; it must not end with stop, and the lease must be renewed
// until RunUntil has returned.
//
// RunUntil returns nil if all was done, or if ctx ended first. Where a drain was
// begun and not finished, it returns a *DrainError with the number of keys that were
// not done, and why: the time was over, or the cause of ctx.
func (q *Queue[K]) RunUntil(ctx, stop context.Context, workers int, reconcile func(context.Context, K) error) error {
	if workers < 1 || reconcile == nil {
		return fmt.Errorf("workqueue %q: Run needs at least one worker and a reconcile function, got %d workers", q.opts.Name, workers)
	}
	work, end := context.WithCancelCause(ctx)
	defer end(nil)
	q.keepTimes()
	err := q.crew.begin(work, workers, func(hired context.Context) { q.work(hired, work, reconcile) })
	if err != nil {
		return fmt.Errorf("workqueue %q: %w", q.opts.Name, err)
	}
	err = q.await(ctx, stop)
	end(err)
	q.crew.end()
	q.parking.waits.Wait() // their context has ended, as the queue is shut down
	return err
}

// SetWorkers changes the number of workers of the Run that goes on. New ones
// begin at once; those that are too many end when they are done with the key that
// they work on. It is an error if n is less than one or no Run goes on.
func (q *Queue[K]) SetWorkers(n int) error {
	if n < 1 {
		return fmt.Errorf("workqueue %q: SetWorkers needs at least one worker, got %d", q.opts.Name, n)
	}
	if err := q.crew.resize(n); err != nil {
		return fmt.Errorf("workqueue %q: %w", q.opts.Name, err)
	}
	return nil
}

// await returns when the work is to end: the queue is drained, ctx has ended, or the
// time of the drain that follows stop is over. Then the queue is shut down.
func (q *Queue[K]) await(ctx, stop context.Context) error {
	select {
	case <-q.drained:
		return nil
	case <-ctx.Done():
	case <-stop.Done():
	}
	if ctx.Err() != nil { // which counts for more than stop
		q.ShutDown()
		return nil
	}
	if q.opts.DrainTimeout > 0 {
		limit, cancel := context.WithTimeout(ctx, q.opts.DrainTimeout)
		defer cancel()
		ctx = limit
	}
	return q.Drain(ctx)
}

// work is one worker: it returns when it is dismissed, when work ends, or when
// Get has no more for it.
func (q *Queue[K]) work(hired, work context.Context, reconcile func(context.Context, K) error) {
	for {
		key, err := q.Get(hired)
		if err != nil && q.isOver() {
			// The others may have gone home before this one was done with a key that had
			// been added again, so there would be nobody for it but this one, dismissed
			// or not.
			key, err = q.Get(work)
		}
		if err != nil {
			return
		}
		q.workOn(work, key, reconcile)
	}
}

// isOver reports whether the queue has been shut down, after which no Get blocks.
func (q *Queue[K]) isOver() bool {
	select {
	case <-q.over:
		return true
	default:
		return false
	}
}

func (q *Queue[K]) workOn(ctx context.Context, key K, reconcile func(context.Context, K) error) {
	how := cutShort
	defer func() { q.done(key, how) }()
	contained(
		func() error { return reconcile(ctx, key) },
		func(err error) {
			concluded := false
			defer func() {
				if !concluded { // A hook ended the goroutine, or the Logger panicked.
					how = retried
					q.again(key, unconcluded)
				}
			}()
			concluded = q.hooks.Call("conclusion", func() { how = q.conclude(ctx, key, err) })
		},
	)
}

// unconcluded is the delay of a key whose turn was ended by a function other than reconcile.
const unconcluded = time.Second

// conclude retries, forgets, parks or adds the key, by the result of its turn.
func (q *Queue[K]) conclude(ctx context.Context, key K, err error) ending {
	if err == nil {
		q.Forget(key)
		return succeeded
	}
	if ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx))) {
		return cutShort // which is no failure, and nothing follows.
	}
	o := outcomeOf(err)
	if o.failed {
		q.report(ctx, "reconcile failed", false, key, err)
		q.Retry(key)
		return retried
	}
	if o.dropped {
		q.report(ctx, "reconcile failed, and is not tried again", true, key, err)
	}
	q.Forget(key)
	for _, until := range o.when {
		q.Park(key, until)
	}
	how := succeeded
	switch {
	case o.when != nil:
		q.again(key, 0)
		how = requeuedWhen
	case o.after != nil:
		q.again(key, *o.after)
		how = requeuedAfter
	}
	if o.dropped {
		how = droppedForGood
	}
	return how
}

// contained calls a function of the user's, and then tells its error. A panic and a
// runtime.Goexit become errors as well.
func contained(f func() error, then func(error)) {
	err := errGoexit
	defer func() {
		if value := recover(); value != nil {
			stack := debug.Stack()
			if odd, ok := value.(error); ok {
				value = contain.Error(odd)
			}
			err = &PanicError{Value: value, Stack: stack}
		}
		then(harmless(err))
	}()
	err = f()
}

// harmless returns an error of the user's, or a *PanicError in its place if its methods panic.
func harmless(err error) error {
	err = contain.Error(err)
	if stack, panicked := contain.Panicked(err); panicked {
		return &PanicError{Value: err, Stack: stack}
	}
	return err
}

// errGoexit is the error of a function that did not return and did not panic.
var errGoexit = errors.New("ended its goroutine, by runtime.Goexit")

// report counts, logs and tells a failure; dropped says that the key is not tried again.
func (q *Queue[K]) report(ctx context.Context, msg string, dropped bool, key K, err error) {
	_, panicked := errors.AsType[*PanicError](err)
	requeues := q.NumRequeues(key)
	line, unsaid, since := q.failing.note(requeues == 0 || dropped, time.Now())
	level := slog.LevelDebug
	if line {
		level = slog.LevelWarn
		if panicked {
			level = slog.LevelError
		}
	}
	if unsaid > 0 {
		q.logAttrs(ctx, slog.LevelWarn, "reconciles go on failing", slog.String("queue", q.opts.Name),
			slog.Uint64("failures", unsaid), slog.Time("since", since), slog.Any("key", key), slog.Any("err", err))
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

// logAttrs writes a line. A Logger may be a program's own, and is contained as a hook is.
func (q *Queue[K]) logAttrs(ctx context.Context, level slog.Level, msg string, attrs ...slog.Attr) {
	q.hooks.Call("Options.Logger", func() { q.opts.Logger.LogAttrs(ctx, level, msg, attrs...) })
}

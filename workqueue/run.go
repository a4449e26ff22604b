package workqueue

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
)

// Run works on the queue's keys with this many workers, each calling reconcile
// for one key at a time, until ctx ends. For what reconcile returns:
//
//   - nil: the key is forgotten by the rate limiter.
//   - RequeueAfter(d): the same, and the key is added again after d.
//   - any other error: the key is added again, rate-limited; the error is logged
//     and told to Observer.OnError.
//
// A panic in reconcile becomes such an error, a *PanicError that is logged with
// its stack: one key that cannot be worked on does not end the process, nor the
// work on all others. Where a panic should end the process, let reconcile recover
// and exit. A call of runtime.Goexit, as in testing's FailNow, ends the worker.
//
// When ctx ends, the queue is shut down, and the workers go on with what is
// queued, but not with what is delayed nor with what fails then. The context that
// reconcile gets has the values of ctx and lives on until that is done, at
// most for Options.DrainTimeout; then it is cancelled, and no further key is
// begun. Run returns when all workers have returned, so it waits for a reconcile
// that ignores its context. It returns nil if all was done, otherwise a
// *DrainError with the number of keys that were not, when the time was over.
//
// If the queue is shut down by someone else, Run returns nil as soon as it is
// drained, or as above when ctx ends. Run may be called several times at once,
// with different functions even; the first whose ctx ends shuts the queue down.
func (q *Queue[K]) Run(ctx context.Context, workers int, reconcile func(context.Context, K) error) error {
	if workers < 1 || reconcile == nil {
		return fmt.Errorf("workqueue %q: Run needs at least one worker and a reconcile function, got %d workers", q.opts.Name, workers)
	}
	work, stop := context.WithCancel(context.WithoutCancel(ctx))
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() { q.work(work, reconcile) })
	}
	err := q.await(ctx)
	stop()
	wg.Wait()
	return err
}

// await returns when the queue is drained, or, after ctx, the drain's time is over.
func (q *Queue[K]) await(ctx context.Context) error {
	select {
	case <-q.drained:
		return nil
	case <-ctx.Done():
	}
	limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), q.opts.DrainTimeout)
	defer cancel()
	return q.Drain(limit)
}

// work is one worker: it returns when Get has no more for it.
func (q *Queue[K]) work(ctx context.Context, reconcile func(context.Context, K) error) {
	for {
		key, err := q.Get(ctx)
		if err != nil {
			return
		}
		q.workOn(ctx, key, reconcile)
	}
}

func (q *Queue[K]) workOn(ctx context.Context, key K, reconcile func(context.Context, K) error) {
	defer q.Done(key)
	err := contain(ctx, key, reconcile)
	if err == nil {
		q.Forget(key)
		return
	}
	if r, ok := errors.AsType[*requeue](err); ok {
		q.Forget(key)
		q.AddAfter(key, r.after)
		return
	}
	q.report(ctx, key, err)
	q.AddRateLimited(key)
}

// contain calls reconcile and turns a panic into an error.
func contain[K comparable](ctx context.Context, key K, reconcile func(context.Context, K) error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &PanicError{Value: value, Stack: debug.Stack()}
		}
	}()
	return reconcile(ctx, key)
}

// report counts, logs and tells a failure.
func (q *Queue[K]) report(ctx context.Context, key K, err error) {
	attrs := []slog.Attr{
		slog.String("queue", q.opts.Name),
		slog.Any("key", key),
		slog.Any("err", err),
		slog.Int("requeues", q.NumRequeues(key)),
	}
	panicked, ok := errors.AsType[*PanicError](err)
	if ok {
		attrs = append(attrs, slog.String("stack", string(panicked.Stack)))
	}
	q.opts.Logger.LogAttrs(ctx, slog.LevelError, "reconcile failed", attrs...)

	q.mu.Lock()
	q.stats.Failures++
	if ok {
		q.stats.Panics++
	}
	q.mu.Unlock()

	q.opts.Observer.failed(key, err)
}

package workqueue

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Run processes the queue's keys with this many workers until ctx ends. Each worker calls reconcile
// for one key at a time. The result of reconcile decides what follows:
//
//   - nil: the rate limiter forgets the key.
//   - RequeueAfter(d): the same, and the key is added again after d.
//   - RequeueWhen(until): the same, and the key is added again when the function until returns.
//   - Drop(err): the error is logged and passed to Observer.OnError, and the rate limiter forgets
//     the key, because a retry cannot help. See Options.Logger for how often failures are logged.
//   - any other error: the error is logged and passed to Observer.OnError too, and the key is added
//     again, rate-limited.
//
// A key that is added again keeps the priority and causes of its run. A result may combine several
// errors, and a panic counts as an error: see "Results of a reconcile" in the package comment.
//
// When ctx ends, everything ends. The context of every reconcile ends at once with the same cause,
// and no further key is begun. The queue is shut down, with its remaining keys unprocessed. Run
// returns nil when the reconciles and the waits of Park in progress have returned; a reconcile that
// ignores its context delays this. An error that a reconcile returns because its context has ended
// is not a failure. No reconcile has a context that outlives ctx, so ctx may end when a lease is
// lost. To finish the queued keys, use RunUntil.
//
// If the queue is shut down in another way, Run returns nil as soon as the queue is drained, or as
// above when ctx ends. SetWorkers changes the number of workers meanwhile. Only one Run is possible
// at a time: a second returns an error.
func (q *Queue[K]) Run(ctx context.Context, workers int, reconcile func(context.Context, K) error) error {
	return q.RunUntil(ctx, ctx, workers, reconcile)
}

// RunUntil is Run with two contexts, for programs that want to finish the queued keys:
//
//   - When the context stop ends, the queue is shut down, and the workers continue with the queued
//     keys. Delayed keys, and keys that fail then, are not processed again. The contexts of the
//     reconciles stay alive until the queued keys are done, for at most Options.DrainTimeout.
//   - When ctx ends, before or after stop, everything ends at once, as in Run.
//
// The context stop is for a process that is asked to stop (SIGTERM), and ctx is for the right to
// write. A leader passes a context that ends with its lease as ctx. The context ctx must not end
// with the context stop, and the lease must be renewed until RunUntil has returned.
//
// RunUntil returns nil if the drain was complete, or if ctx ended first. If a drain was begun and
// not finished, it returns a *DrainError with the number of unfinished keys and the reason: the
// timeout, or the cause of ctx.
func (q *Queue[K]) RunUntil(ctx, stop context.Context, workers int, reconcile func(context.Context, K) error) error {
	if workers < 1 || reconcile == nil {
		return fmt.Errorf("workqueue %q: Run needs at least one worker and a reconcile function, got %d workers", q.opts.Name, workers)
	}
	runCtx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	q.keepTimes()
	err := q.workers.start(runCtx, workers, func(workerCtx context.Context) { q.runCtx(workerCtx, runCtx, reconcile) })
	if err != nil {
		return fmt.Errorf("workqueue %q: %w", q.opts.Name, err)
	}
	err = q.await(ctx, stop)
	cancel(err)
	q.workers.stop()
	q.parking.waits.Wait() // their context has ended, because the queue is shut down
	return err
}

// SetWorkers changes the number of workers of the current Run. New workers begin at once; surplus
// workers end when they are done with their key. SetWorkers returns an error if n is less than one
// or no Run is in progress.
func (q *Queue[K]) SetWorkers(n int) error {
	if n < 1 {
		return fmt.Errorf("workqueue %q: SetWorkers needs at least one worker, got %d", q.opts.Name, n)
	}
	if err := q.workers.resize(n); err != nil {
		return fmt.Errorf("workqueue %q: %w", q.opts.Name, err)
	}
	return nil
}

// await returns when the work must end: the queue is drained, ctx has ended, or the drain after the
// end of the context stop has timed out. The queue is then shut down.
func (q *Queue[K]) await(ctx, stop context.Context) error {
	select {
	case <-q.drained:
		return nil
	case <-ctx.Done():
	case <-stop.Done():
	}
	if ctx.Err() != nil { // takes precedence over stop
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

// runCtx is one worker. It returns when workerCtx ends, because the worker is stopped, when the
// context runCtx ends, or when Get has no more keys.
func (q *Queue[K]) runCtx(workerCtx, runCtx context.Context, reconcile func(context.Context, K) error) {
	for {
		key, err := q.Get(workerCtx)
		if err != nil && q.isShutDown() {
			// The other workers may have ended before this worker was done with a key that was
			// added again. Then only this worker can process the key, even if it was stopped.
			key, err = q.Get(runCtx)
		}
		if err != nil {
			return
		}
		q.reconcileKey(runCtx, key, reconcile)
	}
}

// isShutDown reports whether the queue has been shut down; after that no Get blocks.
func (q *Queue[K]) isShutDown() bool {
	select {
	case <-q.shutDownCh:
		return true
	default:
		return false
	}
}

func (q *Queue[K]) reconcileKey(ctx context.Context, key K, reconcile func(context.Context, K) error) {
	how := interrupted
	defer func() { q.done(key, how) }()
	callContained(
		func() error { return reconcile(ctx, key) },
		func(err error) {
			handled := false
			defer func() {
				if !handled { // A hook ended the goroutine, or the Logger panicked.
					how = retried
					q.requeue(key, hookFailureDelay)
				}
			}()
			handled = q.hooks.Call("result of reconcile", func() { how = q.handleResult(ctx, key, err) })
		},
	)
}

// hookFailureDelay is the delay of a key whose run ended in a function other than the reconcile
// function.
const hookFailureDelay = time.Second

// handleResult retries, forgets, parks or adds the key, depending on the result of its run.
func (q *Queue[K]) handleResult(ctx context.Context, key K, err error) outcome {
	if err == nil {
		q.Forget(key)
		return succeeded
	}
	if ctx.Err() != nil && (errors.Is(err, ctx.Err()) || errors.Is(err, context.Cause(ctx))) {
		return interrupted // not a failure, and nothing follows.
	}
	o := classify(err)
	if o.failed {
		q.report(ctx, "reconcile failed", false, key, err)
		q.Retry(key)
		return retried
	}
	if o.dropped {
		q.report(ctx, "reconcile failed and is not retried", true, key, err)
	}
	q.Forget(key)
	for _, until := range o.when {
		q.Park(key, until)
	}
	how := succeeded
	switch {
	case o.when != nil:
		q.requeue(key, 0)
		how = requeuedWhen
	case o.after != nil:
		q.requeue(key, *o.after)
		how = requeuedAfter
	}
	if o.dropped {
		how = notRetried
	}
	return how
}

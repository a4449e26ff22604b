package informer

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/kinform/kinform/internal/contain"
)

// Cache is what [Run] runs: an [*Informer] of any type, or a [*Factory].
type Cache interface {
	// Run runs the cache until ctx ends, and returns when everything it started has ended.
	Run(ctx context.Context) error
	// WaitForSync waits until the cache is complete. The error says what is missing.
	WaitForSync(ctx context.Context) error
}

// Run runs caches, and work that reads them, in the right order. It starts the caches, waits until
// all of them are synced, and calls the function work. When work has returned, Run ends the caches.
// Run returns when everything that it started has ended (G10).
//
//	err := informer.Run(ctx, func(ctx context.Context) error {
//		return queue.Run(ctx, 4, reconcile)
//	}, pods, nodes)
//
// The context of work ends with ctx. It also ends when a cache gives up, with the error of that
// cache as its cause; see reflector.Options.GiveUpAfter. The caches run until work has returned, so
// work never reads a stopped cache.
//
// The error joins the error of work and the errors of caches that gave up. If work returns an error
// only because its context ended with a cache, that error is left out.
//
// If ctx is cancelled before the caches are synced, work is not called, and the error is nil. If
// the deadline of ctx passes before the caches are synced, the error says what is missing.
//
// A panic of work reaches the caller of Run after the caches have ended.
func Run(ctx context.Context, work func(ctx context.Context) error, caches ...Cache) error {
	return RunUntil(ctx, ctx, work, caches...)
}

// RunUntil is like Run, for work that can end in two ways, like workqueue.Queue.RunUntil. When the
// context stop ends, the function work finishes the items in progress. When ctx ends, work returns
// at once.
//
//	work := func(working context.Context) error {
//		return queue.RunUntil(working, ctx, 4, reconcile)
//	}
//	err := informer.RunUntil(context.WithoutCancel(ctx), ctx, work, pods, nodes)
//
// The context of the function work does not end with the context stop: the function observes stop
// itself. The caches run until the function has returned. If stop ends before the caches are
// synced, the function is not called, as in Run.
func RunUntil(ctx, stop context.Context, work func(ctx context.Context) error, caches ...Cache) error {
	if work == nil {
		return errors.New("informer: Run needs a work function")
	}
	for n, cache := range caches {
		if contain.IsNil(cache) {
			return fmt.Errorf("informer: Run needs caches, and number %d of %d is nil", n+1, len(caches))
		}
	}
	working, interrupt := context.WithCancelCause(ctx)
	defer interrupt(nil)
	running := runAll(context.WithoutCancel(ctx), caches, interrupt)
	defer running.end() // Also if work panics.
	synced, err := waitForAll(working, stop, caches)
	if synced {
		err = contain.SafeError(work(working))
	}
	interrupted := working.Err()
	gaveUp := running.end()
	switch {
	case gaveUp == nil:
		return err
	case !synced || interrupted != nil && (errors.Is(err, interrupted) || errors.Is(err, context.Cause(working))):
		return gaveUp
	}
	return errors.Join(gaveUp, err)
}

// waitForAll waits until all caches are synced. It returns false if work must not begin, because
// ctx or the context stop ended first, or a cache failed.
func waitForAll(ctx, stop context.Context, caches []Cache) (begin bool, err error) {
	waiting, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(stop, func() { cancel(context.Cause(stop)) })()
	var missing []error
	for _, cache := range caches {
		if err := contain.SafeError(cache.WaitForSync(waiting)); err != nil {
			missing = append(missing, err)
		}
	}
	for _, end := range []context.Context{ctx, stop} {
		switch err := end.Err(); {
		case errors.Is(err, context.DeadlineExceeded):
			return false, errors.Join(append(missing, fmt.Errorf("informer: Run: the work function was not called: %w", context.Cause(end)))...)
		case err != nil:
			return false, nil
		}
	}
	return len(missing) == 0, errors.Join(missing...)
}

// runningCaches has the caches that Run has started, each in a goroutine of its own.
type runningCaches struct {
	cancel  context.CancelFunc
	running sync.WaitGroup
	errs    []error // of each cache, complete when all caches have ended
}

var errEndedEarly = errors.New("informer: Run: a cache ended by itself without an error")

// runAll starts caches. When a cache ends with an error before ctx, runAll calls gaveUp with the
// error.
func runAll(ctx context.Context, caches []Cache, gaveUp func(error)) *runningCaches {
	ctx, cancel := context.WithCancel(ctx)
	r := &runningCaches{cancel: cancel, errs: make([]error, len(caches))}
	for n, cache := range caches {
		r.running.Go(func() {
			err := errGoexit
			defer func() {
				switch ended := ctx.Err(); {
				case ended == nil && err == nil:
					err = errEndedEarly
				case ended != nil && errors.Is(err, ended):
					err = nil // The cache ended because ctx ended.
				}
				if r.errs[n] = err; err != nil {
					gaveUp(err)
				}
			}()
			err = contain.SafeError(cache.Run(ctx))
		})
	}
	return r
}

// end ends the caches and waits for them. The error joins the errors of caches that gave up.
func (r *runningCaches) end() error {
	r.cancel()
	r.running.Wait()
	return errors.Join(r.errs...)
}

// The workers. A worker takes a key, and makes the world as the object wants it, whatever has happened: it
// looks at the state there is, not at the change that brought it here. That is what level-triggered means,
// and why a change that is missed, merged or told twice does no harm. What fails is tried again later. Many
// workers work on many keys at once, and never two on one.

package plain

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
)

// Work runs workers until ctx ends, and returns when all of them have ended. reconcile is called with each
// key, by several workers at once but never twice at once with one key. A key whose reconcile returns an
// error comes back after a while.
func Work[K comparable](ctx context.Context, queue *Queue[K], workers int, reconcile func(context.Context, K) error) {
	var running sync.WaitGroup
	running.Go(func() {
		<-ctx.Done()
		queue.ShutDown()
	})
	for range workers {
		running.Go(func() {
			for {
				key, ok := queue.Get()
				if !ok || ctx.Err() != nil {
					return
				}
				workOn(ctx, queue, key, reconcile)
			}
		})
	}
	running.Wait()
}

func workOn[K comparable](ctx context.Context, queue *Queue[K], key K, reconcile func(context.Context, K) error) {
	defer queue.Done(key)
	err := try(ctx, key, reconcile)
	if err == nil {
		queue.Forget(key)
		return
	}
	slog.Warn("reconcile failed", "key", key, "err", err)
	queue.AddRateLimited(key)
}

// try turns a panic into an error.
func try[K comparable](ctx context.Context, key K, reconcile func(context.Context, K) error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	return reconcile(ctx, key)
}

// What package workqueue does beyond this file: an error can say when its key is to come back, or that it
// never is; a reconcile that takes too long is seen, by key; failures of one key are logged once and again
// every few minutes, not each time; a stop may wait for what is queued to be worked off.

// The workers. A worker takes a key, and makes the world as the object with that key wants it. It
// reads the present state, and ignores which change added the key: the work is level-triggered. So
// a change that is missed, merged or repeated does no harm. Failed work is retried later. Many
// workers work on many keys at once, and never two on one.

package plain

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
)

// Work runs workers until ctx ends, and returns when all of them have ended. They call reconcile
// with each key: several at once, but never two with the same key. If reconcile returns an error,
// the key is retried after a wait.
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
				reconcileKey(ctx, queue, key, reconcile)
			}
		})
	}
	running.Wait()
}

func reconcileKey[K comparable](ctx context.Context, queue *Queue[K], key K, reconcile func(context.Context, K) error) {
	defer queue.Done(key)
	if err := recoverPanic(func() error { return reconcile(ctx, key) }); err != nil {
		slog.Warn("reconcile failed", "key", key, "err", err)
		queue.AddRateLimited(key)
		return
	}
	queue.Forget(key)
}

// recoverPanic calls a function, and converts a panic to an error.
func recoverPanic(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	return f()
}

// Package workqueue does more than this file, for these reasons:
//
//   - An error can say when its key should be retried, or that it should not be retried, because
//     another attempt would not help.
//   - A program can find the key whose reconcile takes too long.
//   - Failures are logged when they begin and again every few minutes, not each time.
//   - A stop may wait until the queued keys are done.

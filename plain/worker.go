// The workers. A worker gets a key, and brings the real state to the state that the object with
// this key describes. It reads the present state, and ignores which change added the key: the work
// is level-triggered. So a change that is missed, merged or repeated does no harm. Failed work is
// retried later. Many workers process many keys at once, but never the same key.

package plain

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
)

// Work runs workers until ctx ends, and returns when all of them have ended. They call reconcile
// with each key: with several keys at once, but never twice with the same key. If reconcile returns
// an error, the key is retried after a wait.
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

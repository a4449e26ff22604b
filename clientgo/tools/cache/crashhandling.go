package cache

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
)

// Functions, handlers, stores, objects and errors of a program may panic, or end their goroutine by
// runtime.Goexit. This package calls them only inside retryAfterPanic, retryAfterPanicOrGoexit or
// retryAfterGoexit.

// retryAfterPanic calls the function work until it returns. A panic goes to HandleCrash, which ends
// the process unless the program has set utilruntime.ReallyCrash to false. If HandleCrash returns,
// retryAfterPanic calls the function pause and then work again. It stops when pause returns false.
//
// The goroutine may be the program's. If work calls runtime.Goexit, the goroutine ends, as in
// client-go.
func retryAfterPanic(ctx context.Context, pause func() bool, work func()) {
	for !returnsWithoutPanic(ctx, work) && pause() {
	}
}

// retryAfterPanicOrGoexit is like retryAfterPanic, for a goroutine of this package. It also calls
// work again after a runtime.Goexit.
func retryAfterPanicOrGoexit(ctx context.Context, pause func() bool, work func()) {
	retryAfterGoexit(ctx, pause, func() { retryAfterPanic(ctx, pause, work) })
}

// retryAfterGoexit calls the function work in a goroutine of this package until work returns or
// panics. If work ends with runtime.Goexit, retryAfterGoexit calls the function pause and then work
// again. It stops when pause returns false.
func retryAfterGoexit(ctx context.Context, pause func() bool, work func()) {
	ended := false
	defer func() {
		if ended {
			return
		}
		if p := recover(); p != nil {
			panic(p)
		}
		// The goroutine is about to end, but its deferred calls still run. This deferred call runs
		// the function work in another goroutine and waits for it. It repeats this until work
		// returns.
		for !ended {
			utilruntime.HandleErrorWithContext(ctx, errGoexit, "A function of the program ended a goroutine of an informer")
			if !pause() {
				return
			}
			var running sync.WaitGroup
			running.Go(func() {
				work()
				ended = true
			})
			running.Wait()
		}
	}()
	work()
	ended = true
}

var errGoexit = errors.New("runtime.Goexit was called; FailNow of package testing calls it: call FailNow in the goroutine of the test only")

// returnsWithoutPanic calls the function work and reports whether work has returned. A panic goes
// to HandleCrash.
func returnsWithoutPanic(ctx context.Context, work func()) (returned bool) {
	defer utilruntime.HandleCrashWithContext(ctx)
	work()
	return true
}

// logStack logs the stack of a panic, for a caller that will panic again with the same value in
// another place.
func logStack(ctx context.Context, what string, value any) {
	klog.FromContext(ctx).Error(nil, what, "panic", fmt.Sprint(value), "stacktrace", string(debug.Stack()))
}

// crashPause is client-go's pause after a panic of a handler or of a processing function (SI-14).
// With the pause, a function that panics at each call does not fill the log.
const crashPause = time.Second

// pauseFor returns a function that sleeps for the duration that the function length returns. It
// returns false if ctx ends first.
func pauseFor(ctx context.Context, length func() time.Duration) func() bool {
	return func() bool {
		timer := time.NewTimer(length())
		defer timer.Stop()
		select {
		case <-ctx.Done():
			return false
		case <-timer.C:
			return ctx.Err() == nil
		}
	}
}

func crashPauseLength() time.Duration { return crashPause }

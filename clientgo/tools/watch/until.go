// Package watch waits for events of a watch, and has watches that reopen themselves.
package watch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/client-go/tools/cache"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/klog/v2"
)

// PreconditionFunc returns true if waiting is unnecessary. It is called when the store is complete.
type PreconditionFunc func(store cache.Store) (bool, error)

// ConditionFunc reports whether an event meets a condition.
type ConditionFunc func(event watch.Event) (bool, error)

// ErrWatchClosed means that a watch ended before all conditions were met.
var ErrWatchClosed = errors.New("watch closed before UntilWithoutRetry timeout")

// UntilWithoutRetry reads a watch until events have met all conditions, in order, and returns the
// last event. One event may meet several conditions. It always stops the watch. It returns
// ErrWatchClosed if the watch ends, and an error of package wait if the context ends.
func UntilWithoutRetry(ctx context.Context, watcher watch.Interface, conditions ...ConditionFunc) (*watch.Event, error) {
	defer watcher.Stop()
	events := watcher.ResultChan()
	var last *watch.Event
	for i, condition := range conditions {
		if i > 0 && last != nil { // the last event may meet the next condition as well
			if met, err := condition(*last); err != nil || met {
				if err != nil {
					return last, err
				}
				continue
			}
		}
		for met := false; !met; {
			select {
			case event, ok := <-events:
				if !ok {
					return last, ErrWatchClosed
				}
				last = &event
				var err error
				if met, err = condition(event); err != nil {
					return last, err
				}
			case <-ctx.Done():
				// programs print its text, "timed out waiting for the condition"
				return last, wait.ErrorInterrupted(nil)
			}
		}
	}
	return last, nil
}

// Until is like UntilWithoutRetry, for a RetryWatcher that begins at a version.
func Until(ctx context.Context, initialResourceVersion string, watcherClient cache.Watcher, conditions ...ConditionFunc) (*watch.Event, error) {
	w, err := NewRetryWatcherWithContext(ctx, initialResourceVersion, cache.ToWatcherWithContext(watcherClient))
	if err != nil {
		return nil, err
	}
	return UntilWithoutRetry(ctx, w, conditions...)
}

// UntilWithSync is like UntilWithoutRetry, for the events of an informer. An informer retries after
// any failure. precondition, if not nil, is called first, once the informer's store is complete.
func UntilWithSync(ctx context.Context, lw cache.ListerWatcher, objType runtime.Object, precondition PreconditionFunc, conditions ...ConditionFunc) (*watch.Event, error) {
	indexer, informer, w, done := NewIndexerInformerWatcher(lw, objType)
	defer func() { <-done }()
	defer w.Stop()
	if precondition != nil {
		if !cache.WaitFor(ctx, "", informer.HasSyncedChecker()) {
			return nil, fmt.Errorf("UntilWithSync: unable to sync caches: %w", context.Cause(ctx))
		}
		if met, err := precondition(indexer); err != nil || met {
			return nil, err
		}
	}
	return UntilWithoutRetry(ctx, w, conditions...)
}

// ContextWithOptionalTimeout is context.WithTimeout. 0 means no timeout. A negative value is logged
// and also means no timeout.
func ContextWithOptionalTimeout(parent context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	if timeout < 0 {
		klog.FromContext(parent).Error(nil, "A timeout is negative, and left out", "timeout", timeout)
	}
	if timeout <= 0 {
		return context.WithCancel(parent)
	}
	return context.WithTimeout(parent, timeout)
}

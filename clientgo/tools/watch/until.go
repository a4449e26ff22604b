// Package watch waits for what a watch brings, and keeps watches open.
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

// PreconditionFunc says, of a store that is complete, whether there is nothing to wait for.
type PreconditionFunc func(store cache.Store) (bool, error)

// ConditionFunc says whether an event is what is waited for.
type ConditionFunc func(event watch.Event) (bool, error)

// ErrWatchClosed says that a watch has ended before all conditions were met.
var ErrWatchClosed = errors.New("watch closed before UntilWithoutRetry timeout")

// UntilWithoutRetry reads a watch until each condition, one after another, has been met by an event, and returns the last
// event. The watch is stopped in any case. A watch that ends is ErrWatchClosed; a context that ends is
// an error of package wait. An event may meet several.
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
				return last, wait.ErrorInterrupted(nil) // programs print its text, "timed out waiting for the condition"
			}
		}
	}
	return last, nil
}

// Until is UntilWithoutRetry of a watch that is opened again when it is lost, from a version.
func Until(ctx context.Context, initialResourceVersion string, watcherClient cache.Watcher, conditions ...ConditionFunc) (*watch.Event, error) {
	w, err := NewRetryWatcherWithContext(ctx, initialResourceVersion, cache.ToWatcherWithContext(watcherClient))
	if err != nil {
		return nil, err
	}
	return UntilWithoutRetry(ctx, w, conditions...)
}

// UntilWithSync is UntilWithoutRetry of an informer's events, which goes on after everything that can be lost. The
// precondition, if it isn't nil, is asked first, when the informer's store is complete.
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

// ContextWithOptionalTimeout is context.WithTimeout. A timeout of 0 means none, and so does a negative one, with a line in the log.
func ContextWithOptionalTimeout(parent context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	if timeout < 0 {
		klog.FromContext(parent).Error(nil, "A timeout is negative, and left out", "timeout", timeout)
	}
	if timeout <= 0 {
		return context.WithCancel(parent)
	}
	return context.WithTimeout(parent, timeout)
}

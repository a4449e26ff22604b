package cache

import (
	"context"
	"fmt"
	"reflect"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"
)

// InformerSynced says whether an informer, or one of its handlers, has synced.
type InformerSynced func() bool

// DoneChecker tells when something is done. [WaitFor] waits for several.
type DoneChecker interface {
	// Name says what is done, in logs.
	Name() string
	// Done returns a channel, always the same, that is closed when it is done.
	Done() <-chan struct{}
}

// IsDone says whether it is done now.
func IsDone(checker DoneChecker) bool {
	select {
	case <-checker.Done():
		return true
	default:
		return false
	}
}

// doneChecker is a channel with a name.
type doneChecker struct {
	name string
	done <-chan struct{}
}

func (d doneChecker) Name() string          { return d.name }
func (d doneChecker) Done() <-chan struct{} { return d.done }

// SyncResult says which informers of a factory have synced.
type SyncResult struct {
	// Err is nil if all have, and the reason why the wait ended otherwise: the cause of the context's end.
	Err error
	// Synced has each informer's type of objects.
	Synced map[reflect.Type]bool
}

// AsError returns nil if all informers have synced, and else an error that names those that have not, and wraps Err.
func (c SyncResult) AsError() error {
	if c.Err == nil {
		return nil
	}
	var missing []string
	for t, synced := range c.Synced {
		if !synced {
			missing = append(missing, t.String())
		}
	}
	sort.Strings(missing)
	return fmt.Errorf("failed to sync all caches: %s: %w", strings.Join(missing, ", "), c.Err)
}

// pollPeriod is how often functions are asked that can't be waited for.
const pollPeriod = 100 * time.Millisecond

// WaitForCacheSync waits until all are true, and asks them every 100 ms. It returns false when stopCh is closed before.
func WaitForCacheSync(stopCh <-chan struct{}, cacheSyncs ...InformerSynced) bool {
	return waitForSync(wait.ContextForChannel(stopCh), cacheSyncs)
}

// WaitForNamedCacheSync is WaitForCacheSync with log lines, which say who waits.
func WaitForNamedCacheSync(controllerName string, stopCh <-chan struct{}, cacheSyncs ...InformerSynced) bool {
	logger := klog.LoggerWithValues(klog.Background(), "controller", controllerName)
	return WaitForNamedCacheSyncWithContext(klog.NewContext(wait.ContextForChannel(stopCh), logger), cacheSyncs...)
}

// WaitForNamedCacheSyncWithContext is WaitForCacheSync with log lines by the context's logger.
func WaitForNamedCacheSyncWithContext(ctx context.Context, cacheSyncs ...InformerSynced) bool {
	logger := klog.FromContext(ctx)
	logger.Info("Waiting for caches to sync")
	if !waitForSync(ctx, cacheSyncs) {
		logger.Info("Unable to sync caches")
		return false
	}
	logger.Info("Caches are synced")
	return true
}

func waitForSync(ctx context.Context, syncs []InformerSynced) bool {
	next := 0
	err := wait.PollUntilContextCancel(ctx, pollPeriod, true, func(context.Context) (bool, error) {
		for next < len(syncs) && syncs[next]() {
			next++
		}
		return next == len(syncs), nil
	})
	return err == nil
}

// WaitFor waits until all are done, without polling. It returns false when the context ends before. If what is not
// "", the context's logger says what WaitFor waits for, when each is done, and which ones are not done in the end.
func WaitFor(ctx context.Context, what string, checkers ...DoneChecker) bool {
	logger := logr.Discard()
	if what != "" {
		logger = klog.FromContext(ctx).WithCallDepth(1)
	}
	logger.Info("Waiting", "for", what)
	ended := make(chan DoneChecker, len(checkers))
	var running sync.WaitGroup
	for _, checker := range checkers {
		done := checker.Done() // the program's own may panic, and must not in another goroutine
		running.Go(func() {
			select {
			case <-done:
			case <-ctx.Done():
			}
			ended <- checker
		})
	}
	var instances []string // that are not done
	all := true
	for range checkers {
		checker := <-ended
		switch {
		case !IsDone(checker):
			if all = false; what != "" {
				instances = append(instances, checker.Name())
			}
		case what != "":
			logger.Info("Done waiting", "for", what, "instance", checker.Name())
		}
	}
	running.Wait() // not after a panic, which must not wait for the context
	if len(instances) > 0 {
		sort.Strings(instances)
		logger.Info("Timed out waiting", "for", what, "cause", context.Cause(ctx), "instances", instances)
	}
	return all
}

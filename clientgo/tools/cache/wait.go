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

// InformerSynced reports whether an informer, or one of its handlers, has synced.
type InformerSynced func() bool

// DoneChecker is a condition that becomes true once, such as the sync of an informer. [WaitFor]
// waits for several DoneCheckers.
type DoneChecker interface {
	// Name names the checker in logs.
	Name() string
	// Done returns a channel that is closed when the condition is true. Each call returns the same
	// channel.
	Done() <-chan struct{}
}

// IsDone reports whether the condition of the checker is true now.
func IsDone(checker DoneChecker) bool {
	select {
	case <-checker.Done():
		return true
	default:
		return false
	}
}

// doneChecker is a DoneChecker made of a name and a channel.
type doneChecker struct {
	name string
	done <-chan struct{}
}

func (d doneChecker) Name() string          { return d.name }
func (d doneChecker) Done() <-chan struct{} { return d.done }

// SyncResult reports which informers of a factory have synced.
type SyncResult struct {
	// Err is nil if all informers have synced. Otherwise it is the cause why the context ended.
	Err error
	// Synced has an entry for each informer, by the type of its objects.
	Synced map[reflect.Type]bool
}

// AsError returns nil if all informers have synced. Otherwise it returns an error that names the
// unsynced informers and wraps Err.
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

// pollPeriod is the time between two calls of an InformerSynced, which has no channel to wait for.
const pollPeriod = 100 * time.Millisecond

// WaitForCacheSync polls cacheSyncs every 100 ms until all are true. It returns false if stopCh is
// closed first.
func WaitForCacheSync(stopCh <-chan struct{}, cacheSyncs ...InformerSynced) bool {
	return waitForSync(wait.ContextForChannel(stopCh), cacheSyncs)
}

// WaitForNamedCacheSync is WaitForCacheSync with log lines that name the controller.
func WaitForNamedCacheSync(controllerName string, stopCh <-chan struct{}, cacheSyncs ...InformerSynced) bool {
	logger := klog.LoggerWithValues(klog.Background(), "controller", controllerName)
	return WaitForNamedCacheSyncWithContext(klog.NewContext(wait.ContextForChannel(stopCh), logger), cacheSyncs...)
}

// WaitForNamedCacheSyncWithContext is like WaitForCacheSync, but stops waiting when ctx ends. It
// logs to the logger of ctx.
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

// WaitFor waits, without polling, until all checkers are done. It returns false if the context ends
// first. If the argument what is not "", WaitFor logs the wait to the context's logger. The log has
// each checker that is done and, if the context ends first, the checkers that are not done.
func WaitFor(ctx context.Context, what string, checkers ...DoneChecker) bool {
	logger := logr.Discard()
	if what != "" {
		logger = klog.FromContext(ctx).WithCallDepth(1)
	}
	logger.Info("Waiting", "for", what)
	ended := make(chan DoneChecker, len(checkers))
	var running sync.WaitGroup
	for _, checker := range checkers {
		done := checker.Done() // called here, because Done may be the program's and may panic
		running.Go(func() {
			select {
			case <-done:
			case <-ctx.Done():
			}
			ended <- checker
		})
	}
	var instances []string // the checkers that are not done
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
	running.Wait() // not deferred: a panic must not wait for the context
	if len(instances) > 0 {
		sort.Strings(instances)
		logger.Info("Timed out waiting", "for", what, "cause", context.Cause(ctx), "instances", instances)
	}
	return all
}

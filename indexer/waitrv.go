package indexer

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// WaitRV blocks until the store has applied everything up to and including this resourceVersion,
// according to its writers (G8), or until ctx ends. With the version in the server's response to a
// write, it gives read-your-writes: after WaitRV has returned nil, readers see this write or
// something newer.
//
// As in the API, "" and "0" mean no particular version, and are reached at once. WaitRV compares
// other versions as positive decimal numbers (KEP-5504). If this version or the store's version is
// not such a number, WaitRV returns an error. If ctx ends first, the error wraps its cause. If the
// version is reached already, WaitRV returns nil, even if ctx has ended.
//
// If the server was restored from a backup, the version of the store goes back (see ApplyRelist).
// The writes after the backup are gone. Their versions are reached when the server's versions pass
// them again.
//
// WaitRV relies on the writers. If there are several writers, a writer may pass a version only if
// the store has everything up to this version from all writers. An informer's store has one writer.
// Any number of goroutines may wait. Each goroutine is woken only when its version is reached.
func (r *Reader[T]) WaitRV(ctx context.Context, resourceVersion string) error {
	if resourceVersion == "" || resourceVersion == "0" {
		return nil
	}
	if _, err := resourceversion.CompareResourceVersion(resourceVersion, resourceVersion); err != nil {
		return fmt.Errorf("indexer: cannot wait for resourceVersion %q: %w", resourceVersion, err)
	}
	w, err := r.waiters.add(resourceVersion, r.ResourceVersion)
	if w == nil {
		return err
	}
	started := time.Now()
	select {
	case err = <-w.reached:
	case <-ctx.Done():
		if r.waiters.remove(w) {
			err = fmt.Errorf("indexer: waiting for resourceVersion %s, the store is at %q: %w",
				resourceVersion, r.ResourceVersion(), context.Cause(ctx))
		} else {
			err = <-w.reached
		}
	}
	if r.observer.OnWaited != nil {
		r.observer.OnWaited(WaitedInfo{ResourceVersion: resourceVersion, Took: time.Since(started), Err: err})
	}
	return err
}

// waiters has the calls of WaitRV that wait for a version.
type waiters struct {
	count atomic.Int64 // length of waiting; if it is 0, a writer takes no lock

	mu      sync.Mutex // guards following
	waiting []*waiter
}

// waiter is one call of WaitRV. It gets one result, and is then removed from waiting.
type waiter struct {
	resourceVersion string
	reached         chan error // buffered; gets nil or an error
}

// add returns a waiter for a version, or nil if the version is reached or cannot be compared with
// the current one. It counts the waiter before it reads the current version, and a writer publishes
// its version before it reads the count. So either add sees the version, or the writer sees the
// waiter.
func (ws *waiters) add(resourceVersion string, current func() string) (*waiter, error) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.count.Add(1)
	if done, err := reached(resourceVersion, current()); done || err != nil {
		ws.count.Add(-1)
		return nil, err
	}
	w := &waiter{resourceVersion: resourceVersion, reached: make(chan error, 1)}
	ws.waiting = append(ws.waiting, w)
	return w, nil
}

// remove removes a waiter, and reports whether it was still waiting.
func (ws *waiters) remove(w *waiter) bool {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	i := slices.Index(ws.waiting, w)
	if i < 0 {
		return false
	}
	ws.waiting = slices.Delete(ws.waiting, i, i+1)
	ws.count.Add(-1)
	return true
}

// wake sends the result to the waiters whose version the store has reached. It reads the current
// version under the lock: another writer may have lowered the version meanwhile, and there may be
// new waiters.
func (ws *waiters) wake(current func() string) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.wakeLocked(current())
}

func (ws *waiters) wakeLocked(current string) {
	ws.waiting = slices.DeleteFunc(ws.waiting, func(w *waiter) bool {
		done, err := reached(w.resourceVersion, current)
		if done || err != nil {
			w.reached <- err
			ws.count.Add(-1)
			return true
		}
		return false
	})
}

// reached reports whether the current version is at least the wanted version.
func reached(wanted, current string) (bool, error) {
	if current == "" {
		return false, nil
	}
	order, err := resourceversion.CompareResourceVersion(current, wanted)
	if err != nil {
		return false, fmt.Errorf("indexer: cannot wait for resourceVersion %s, the store is at %q: %w", wanted, current, err)
	}
	return order >= 0, nil
}

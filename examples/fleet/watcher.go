package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/informer"
)

// watcher observes the robots like a user, with its own informer. It knows which orders are
// pending.
type watcher struct {
	mu      sync.Mutex // guards following
	waiting map[types.NamespacedName][]change
	count   int             // number of pending orders
	done    chan struct{}   // closed when no order is pending; nil if settle does not wait
	took    []time.Duration // durations of finished orders, unsorted
	terms   map[types.NamespacedName]int32
	late    int // number of statuses that an earlier leader wrote after a later one
	leaders map[string]leader
}

// leader has the time of the first status that a leader wrote, and the number of its statuses.
type leader struct {
	first    time.Time
	statuses int
}

// change is an order, with the time when it was given.
type change struct {
	order int64
	given time.Time
}

func newWatcher() *watcher {
	return &watcher{waiting: map[types.NamespacedName][]change{}, terms: map[types.NamespacedName]int32{}, leaders: map[string]leader{}}
}

// expect adds a pending order that is given now.
func (w *watcher) expect(key types.NamespacedName, order int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waiting[key] = append(w.waiting[key], change{order, time.Now()})
	w.count++
}

// handle is the informer's handler.
func (w *watcher) handle(e informer.Event[*Robot]) {
	now, status := time.Now(), e.New.Status
	if status.Order == 0 {
		return // No reconcile has handled the robot yet.
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if status.Term < w.terms[e.Key] {
		w.late++
	}
	w.terms[e.Key] = status.Term
	if e.Old == nil || e.Old.Status != status {
		seen := w.leaders[status.Leader]
		if seen.statuses++; seen.statuses == 1 {
			seen.first = now
		}
		w.leaders[status.Leader] = seen
	}
	left := w.waiting[e.Key]
	for len(left) > 0 && left[0].order <= status.Order {
		w.took = append(w.took, now.Sub(left[0].given))
		left = left[1:]
		w.count--
	}
	if w.waiting[e.Key] = left; len(left) == 0 {
		delete(w.waiting, e.Key)
	}
	if w.count == 0 && w.done != nil {
		close(w.done)
		w.done = nil
	}
}

// settle waits until no order is pending. It returns the durations of the orders that finished
// since its last call, sorted.
func (w *watcher) settle(ctx context.Context) ([]time.Duration, error) {
	w.mu.Lock()
	done := make(chan struct{})
	if w.count == 0 {
		close(done)
	} else {
		w.done = done
	}
	w.mu.Unlock()
	select {
	case <-done:
	case <-ctx.Done():
		w.mu.Lock()
		defer w.mu.Unlock()
		return nil, fmt.Errorf("%d orders are not done: %w", w.count, context.Cause(ctx))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	took := w.took
	w.took = nil
	slices.Sort(took)
	return took, nil
}

// leader returns when and how often a replica has written a status.
func (w *watcher) leader(name string) leader {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.leaders[name]
}

// leads reports whether a replica has written a status as the leader.
func (w *watcher) leads(name string) bool { return w.leader(name).statuses > 0 }

// lateStatuses returns the number of statuses that an earlier leader wrote after a later one.
func (w *watcher) lateStatuses() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.late
}

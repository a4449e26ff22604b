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

// watcher sees the robots as a user does, by an informer of its own, and knows which orders
// are waited for.
type watcher struct {
	mu      sync.Mutex // guards following
	waiting map[types.NamespacedName][]change
	count   int             // of all that are waiting
	done    chan struct{}   // closed when none are; nil if nobody asks
	took    []time.Duration // of those that are done, in no order
	terms   map[types.NamespacedName]int32
	late    int // statuses of an earlier term after one of a later term
	leaders map[string]leader
}

// leader has the time of the first status of a replica that led, and their number.
type leader struct {
	first    time.Time
	statuses int
}

// change is an order, and when it was given.
type change struct {
	order int64
	given time.Time
}

func newWatcher() *watcher {
	return &watcher{waiting: map[types.NamespacedName][]change{}, terms: map[types.NamespacedName]int32{}, leaders: map[string]leader{}}
}

// expect begins to wait for an order that is given now.
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
		return // Nobody has seen to it yet.
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

// settle waits until no order is waited for, and returns how long each took that was done since
// it was asked last, the shortest first.
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

// leader returns the statuses that were seen of a replica.
func (w *watcher) leader(name string) leader {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.leaders[name]
}

// leads reports whether a replica has written a status.
func (w *watcher) leads(name string) bool { return w.leader(name).statuses > 0 }

// tooLate is how many statuses of an earlier term came after one of a later term.
func (w *watcher) tooLate() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.late
}

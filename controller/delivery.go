package controller

import (
	"context"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/indexer"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/workqueue"
)

// delivery calls a handler of a controller, which runs the program's functions: predicates,
// functions that map an event to keys, observers. If one of them panics or ends its goroutine, the
// informer logs and counts that, and delivery keeps the event.
//
// delivery then calls the handler again, with the back-off of a failed reconcile. The handler gets
// one event for all lost events of the object. It leads from the state before the first lost event
// to the state in the cache. If the cache has another object of the same name, the handler gets a
// Deleted and an Added.
type delivery[O metav1.Object] struct {
	handle func(informer.Event[O])
	store  *indexer.Reader[O]
	queue  *workqueue.Queue[types.NamespacedName] // keys of objects with lost events

	// calling holds an element during a call of the function handle. So the goroutine of the
	// handler and the worker of the queue never call the function at the same time (G4).
	calling chan struct{}

	mu   sync.Mutex                                 // guards following
	lost map[types.NamespacedName]informer.Event[O] // the first lost event of each object
}

func newDelivery[O metav1.Object](queue workqueue.Options[types.NamespacedName], store *indexer.Reader[O], handle func(informer.Event[O])) *delivery[O] {
	return &delivery[O]{
		handle: handle, store: store, queue: workqueue.New(queue),
		calling: make(chan struct{}, 1), lost: map[types.NamespacedName]informer.Event[O]{},
	}
}

// deliver is the handler that the cache calls.
func (d *delivery[O]) deliver(e informer.Event[O]) {
	handled := false
	defer func() {
		if !handled {
			d.record(e, false)
			d.queue.Retry(e.Key)
		}
	}()
	d.call(e)
	handled = true
}

func (d *delivery[O]) call(e informer.Event[O]) {
	d.calling <- struct{}{}
	defer func() { <-d.calling }()
	d.handle(e)
}

// record records a lost event. If an object loses several events, record keeps only the first of
// them. The argument first says that e happened before the event that is recorded already.
func (d *delivery[O]) record(e informer.Event[O], first bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, known := d.lost[e.Key]; !known || first {
		d.lost[e.Key] = e
	}
}

func (d *delivery[O]) take(key types.NamespacedName) (informer.Event[O], bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	e, ok := d.lost[key]
	delete(d.lost, key)
	return e, ok
}

// undelivered returns the number of objects with lost events.
func (d *delivery[O]) undelivered() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.lost)
}

// run delivers lost events again, until ctx ends.
func (d *delivery[O]) run(ctx context.Context) {
	_ = d.queue.Run(ctx, 1, d.redeliver) // Its only errors are a second Run and zero workers.
}

// end stops the timers of lost events.
func (d *delivery[O]) end() { d.queue.ShutDown() }

func (d *delivery[O]) redeliver(_ context.Context, key types.NamespacedName) error {
	first, ok := d.take(key)
	if !ok {
		return nil
	}
	handled := false
	defer func() {
		if !handled {
			d.record(first, true)
		}
	}()
	for _, e := range d.eventsSince(first) {
		d.call(e)
	}
	handled = true
	return nil
}

// eventsSince returns the events that lead from the state before a lost event to the state in the
// cache.
func (d *delivery[O]) eventsSince(lost informer.Event[O]) []informer.Event[O] {
	entry, exists := d.store.Entry(lost.Key)
	before := lost.Old // the state that the handler knows
	if lost.Type == informer.Added {
		// The handler knows no state. If the object is gone, New is its last known state.
		before = lost.New
	}
	deleted := informer.Event[O]{
		Type: informer.Deleted, Cause: lost.Cause, Key: lost.Key, FinalStateUnknown: true,
		ResourceVersion: before.GetResourceVersion(), Old: before, New: before,
	}
	if lost.Type == informer.Deleted {
		deleted = lost
	}
	if !exists {
		return []informer.Event[O]{deleted}
	}
	now := informer.Event[O]{
		Type: informer.Added, Cause: lost.Cause, Key: lost.Key,
		ResourceVersion: entry.ResourceVersion, New: entry.Object, UIDHash: entry.UIDHash,
	}
	switch {
	case lost.Type == informer.Added:
		return []informer.Event[O]{now}
	case lost.Type == informer.Deleted, before.GetUID() != entry.Object.GetUID():
		return []informer.Event[O]{deleted, now}
	}
	now.Type, now.Old, now.Restored = informer.Updated, before, lost.Restored
	return []informer.Event[O]{now}
}

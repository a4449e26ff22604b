package workqueue

import (
	"context"
	"sync/atomic"
	"time"

	core "github.com/kinform/kinform/workqueue"
	"k8s.io/utils/clock"
)

// Interface is TypedInterface for items of any type.
//
// Deprecated: use TypedInterface.
type Interface TypedInterface[any]

// TypedInterface is a queue in which an item is once, however often it is added, and never with two
// workers.
type TypedInterface[T comparable] interface {
	// Add says that work on the item is due. It does not block, and does nothing after ShutDown.
	Add(item T)
	// Len is the number of items that wait for a worker.
	Len() int
	// Get hands out the item that has waited longest, and blocks while there is none. Shutdown is
	// true when the queue is shut down and nothing waits.
	Get() (item T, shutdown bool)
	// Done says that the worker has finished with the item.
	Done(item T)
	// ShutDown stops the intake. Items that wait are still handed out.
	ShutDown()
	// ShutDownWithDrain is ShutDown, and waits until the workers are done. A later ShutDown ends
	// the wait.
	ShutDownWithDrain()
	// ShuttingDown reports whether the queue has been shut down.
	ShuttingDown() bool
}

// Queue keeps the items of a Typed that wait, and says in which order they are handed out. It is
// called with the Typed's lock held, by one goroutine at a time, so it must not call the Typed.
type Queue[T comparable] interface {
	// Touch is told of an item that is added while it is in the Queue.
	Touch(item T)
	// Push takes an item that is not in the Queue.
	Push(item T)
	// Len is the number of items in the Queue.
	Len() int
	// Pop takes out the item whose turn it is. It is not called when Len is 0.
	Pop() (item T)
}

// QueueConfig is TypedQueueConfig for items of any type.
//
// Deprecated: use TypedQueueConfig.
type QueueConfig = TypedQueueConfig[any]

// TypedQueueConfig says how a queue works. The zero value works.
type TypedQueueConfig[T comparable] struct {
	// Name is the name in the metrics. A queue without a name has none. Defaults to "".
	Name string

	// MetricsProvider makes the queue's metrics. Defaults to that of SetProvider.
	MetricsProvider MetricsProvider

	// Clock is for tests. Defaults to the real one.
	Clock clock.WithTicker

	// Queue keeps the items that wait. Defaults to first in, first out.
	Queue Queue[T]
}

// Type is a Typed for items of any type.
//
// Deprecated: use Typed.
type Type = Typed[any]

// Typed is a queue. It is safe for concurrent use; make one with NewTyped or NewTypedWithConfig.
type Typed[t comparable] struct {
	items   items[t]
	metrics *queueMetrics[t] // nil if there are none

	shuttingDown atomic.Bool
	releases     releases
}

// items is the part of a queue that differs by who keeps the items: *kept, on kinform's queue, or
// *sets.
type items[T comparable] interface {
	add(item T)
	get() (item T, shutdown bool)
	done(item T)
	len() int
	shutDown()
	drain(ctx context.Context)
	// running is for how long, in total and at most, items have been with workers; it is asked only
	// of a queue with metrics.
	running() (total, longest time.Duration)
}

// New returns an empty queue without metrics.
//
// Deprecated: use NewTyped.
func New() *Type { return NewTyped[any]() }

// NewTyped returns an empty queue without metrics.
func NewTyped[T comparable]() *Typed[T] { return NewTypedWithConfig(TypedQueueConfig[T]{}) }

// NewNamed returns an empty queue whose metrics have this name.
//
// Deprecated: use NewTypedWithConfig.
func NewNamed(name string) *Type { return NewTypedWithConfig(QueueConfig{Name: name}) }

// NewWithConfig returns an empty queue.
//
// Deprecated: use NewTypedWithConfig.
func NewWithConfig(config QueueConfig) *Type { return NewTypedWithConfig(config) }

// NewTypedWithConfig returns an empty queue. One with metrics has a goroutine until ShutDown.
func NewTypedWithConfig[T comparable](config TypedQueueConfig[T]) *Typed[T] {
	q, _ := newTyped(config)
	return q
}

// newTyped returns the queue, and kinform's queue in it if it is one.
func newTyped[T comparable](config TypedQueueConfig[T]) (*Typed[T], *core.Queue[T]) {
	q := &Typed[T]{metrics: newQueueMetrics[T](config.MetricsProvider, config.Name)}
	var inner *core.Queue[T]
	if config.Queue == nil && isReal(config.Clock) {
		inner = core.New(core.Options[T]{Name: config.Name, Observer: q.metrics.observer()})
		q.items = (*kept[T])(inner)
	} else {
		q.items = newSets(config.Queue, clockOr(config.Clock), q.metrics)
	}
	q.metrics.start(q.items, clockOr(config.Clock))
	return q, inner
}

// Add says that work on the item is due. If it is due already, nothing changes; if a worker has the
// item, it is handed out again after Done. It does not block, and does nothing after ShutDown.
func (q *Typed[T]) Add(item T) { q.items.add(item) }

// Len returns how many items wait for a worker, without those that workers have.
func (q *Typed[T]) Len() int { return q.items.len() }

// Get hands out the item that has waited longest, and blocks while there is none. The caller must
// call Done with it. When the queue is shut down and nothing waits, shutdown is true.
func (q *Typed[T]) Get() (item T, shutdown bool) { return q.items.get() }

// Done says that the worker has finished with the item. If it was added meanwhile, it waits from
// now on. Done of an item that no worker has does nothing.
func (q *Typed[T]) Done(item T) { q.items.done(item) }

// ShutDown stops the intake: later adds are ignored. Items that wait are still handed out, and so
// are those that were added before while a worker had them. It releases the callers of
// ShutDownWithDrain that wait.
func (q *Typed[T]) ShutDown() {
	q.shuttingDown.Store(true)
	q.items.shutDown()
	q.releases.now()
	q.metrics.stop()
}

// ShutDownWithDrain is ShutDown, and returns when no item waits and no worker has one. It needs
// workers that call Done. Where nobody takes the items that wait, it gives them up after a second;
// it returns as well when somebody calls ShutDown meanwhile.
func (q *Typed[T]) ShutDownWithDrain() {
	ctx, cancel := q.releases.context()
	defer cancel()
	q.shuttingDown.Store(true)
	q.items.shutDown()
	q.items.drain(ctx)
	q.metrics.stop()
}

// ShuttingDown reports whether the queue has been shut down.
func (q *Typed[T]) ShuttingDown() bool { return q.shuttingDown.Load() }

func isReal(c clock.WithTicker) bool {
	switch c.(type) {
	case nil, clock.RealClock, *clock.RealClock:
		return true
	}
	return false
}

func clockOr(c clock.WithTicker) clock.WithTicker {
	if c == nil {
		return clock.RealClock{}
	}
	return c
}

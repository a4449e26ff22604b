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

// TypedInterface is a queue that holds an item once, however often the item is added. Two workers
// never have the same item at the same time.
type TypedInterface[T comparable] interface {
	// Add queues the item. It does not block. After ShutDown it has no effect.
	Add(item T)
	// Len returns the number of items that wait for a worker.
	Len() int
	// Get removes the item that has waited longest and returns it. It blocks while the queue is
	// empty. shutdown is true if the queue is shut down and empty.
	Get() (item T, shutdown bool)
	// Done reports that the worker has finished with the item.
	Done(item T)
	// ShutDown makes the queue ignore further adds. Get still returns the queued items.
	ShutDown()
	// ShutDownWithDrain is ShutDown, and then waits until no item is queued and no worker has an
	// item. A later ShutDown ends the wait.
	ShutDownWithDrain()
	// ShuttingDown reports whether the queue has been shut down.
	ShuttingDown() bool
}

// Queue holds the queued items of a Typed and determines their order. One goroutine at a time calls
// it, with the lock of the Typed held. So its methods must not call the Typed.
type Queue[T comparable] interface {
	// Touch is called for an item that is added while it is in the Queue.
	Touch(item T)
	// Push adds an item that is not in the Queue.
	Push(item T)
	// Len returns the number of items in the Queue.
	Len() int
	// Pop removes and returns the next item. It is not called when Len is 0.
	Pop() (item T)
}

// QueueConfig is TypedQueueConfig for items of any type.
//
// Deprecated: use TypedQueueConfig.
type QueueConfig = TypedQueueConfig[any]

// TypedQueueConfig configures a queue. The zero value works.
type TypedQueueConfig[T comparable] struct {
	// Name is the queue's name in metrics. A queue without a name has no metrics. Defaults to "".
	Name string

	// MetricsProvider makes the queue's metrics. Defaults to the provider set by SetProvider.
	MetricsProvider MetricsProvider

	// Clock is for tests. Defaults to the real clock.
	Clock clock.WithTicker

	// Queue holds the queued items. Defaults to first in, first out.
	Queue Queue[T]
}

// Type is a Typed for items of any type.
//
// Deprecated: use Typed.
type Type = Typed[any]

// Typed is a queue. It is safe for concurrent use; make one with NewTyped or NewTypedWithConfig.
type Typed[t comparable] struct {
	items   items[t]
	metrics *queueMetrics[t] // nil without metrics

	shuttingDown atomic.Bool
	drains       drainAborter
}

// items has the methods of a queue. coreQueue implements it with kinform's queue, and customQueue
// implements it for a program's own clock or Queue.
type items[T comparable] interface {
	add(item T)
	get() (item T, shutdown bool)
	done(item T)
	len() int
	shutDown()
	drain(ctx context.Context)
	// running returns the sum and the maximum of the times since Get of the items that workers
	// have. It is called only for a queue with metrics.
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

// NewTypedWithConfig returns an empty queue. A queue with metrics has a goroutine until ShutDown.
func NewTypedWithConfig[T comparable](config TypedQueueConfig[T]) *Typed[T] {
	q, _ := newTyped(config)
	return q
}

// newTyped returns a queue. The second result is the kinform queue inside it, or nil if the queue
// is a customQueue.
func newTyped[T comparable](config TypedQueueConfig[T]) (*Typed[T], *core.Queue[T]) {
	q := &Typed[T]{metrics: newQueueMetrics[T](config.MetricsProvider, config.Name)}
	var inner *core.Queue[T]
	if config.Queue == nil && isReal(config.Clock) {
		inner = core.New(core.Options[T]{Name: config.Name, Observer: q.metrics.observer()})
		q.items = (*coreQueue[T])(inner)
	} else {
		q.items = newCustomQueue(config.Queue, clockOr(config.Clock), q.metrics)
	}
	q.metrics.start(q.items, clockOr(config.Clock))
	return q, inner
}

// Add queues the item. If the item is queued already, nothing changes. If a worker has the item,
// the item is queued again at Done. Add does not block. After ShutDown it has no effect.
func (q *Typed[T]) Add(item T) { q.items.add(item) }

// Len returns the number of items that wait for a worker, without the items that workers have.
func (q *Typed[T]) Len() int { return q.items.len() }

// Get removes the item that has waited longest and returns it. It blocks while the queue is empty.
// The caller must call Done with the item. shutdown is true if the queue is shut down and empty.
func (q *Typed[T]) Get() (item T, shutdown bool) { return q.items.get() }

// Done reports that the worker has finished with the item. If the item was added since Get, it is
// queued again. Done of an item that no worker has does nothing.
func (q *Typed[T]) Done(item T) { q.items.done(item) }

// ShutDown makes the queue ignore further adds. Get still returns the queued items, including items
// that were added while a worker had them. ShutDown also ends waiting calls of ShutDownWithDrain.
func (q *Typed[T]) ShutDown() {
	q.shuttingDown.Store(true)
	q.items.shutDown()
	q.drains.abort()
	q.metrics.stop()
}

// ShutDownWithDrain is ShutDown, and then waits until no item is queued and no worker has an item.
// Workers must call Done. It also returns if items are queued, and no worker has or takes an item
// for a second. A call of ShutDown ends the wait too.
func (q *Typed[T]) ShutDownWithDrain() {
	ctx, cancel := q.drains.context()
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

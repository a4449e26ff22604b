package workqueue

import (
	"time"

	core "github.com/kinform/kinform/workqueue"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
)

// DelayingInterface is TypedDelayingInterface for items of any type.
//
// Deprecated: use TypedDelayingInterface.
type DelayingInterface TypedDelayingInterface[any]

// TypedDelayingInterface is a queue that can add items after a delay.
type TypedDelayingInterface[T comparable] interface {
	TypedInterface[T]
	// AddAfter adds the item after the duration, or at once if the duration is not positive. If
	// AddAfter is called several times for an item, the item is added once, at the earliest of the
	// times. After ShutDown, AddAfter has no effect.
	AddAfter(item T, duration time.Duration)
}

// DelayingQueueConfig is TypedDelayingQueueConfig for items of any type.
//
// Deprecated: use TypedDelayingQueueConfig.
type DelayingQueueConfig = TypedDelayingQueueConfig[any]

// TypedDelayingQueueConfig configures a queue. The zero value works.
type TypedDelayingQueueConfig[T comparable] struct {
	// Logger logs panics of the method Add of Queue, which end the process. The log lines don't
	// include the queue's name. Defaults to klog's logger.
	Logger *klog.Logger

	// Name is the queue's name in metrics. A queue without a name has no metrics. Defaults to "".
	Name string

	// MetricsProvider makes the queue's metrics. Defaults to the provider set by SetProvider.
	MetricsProvider MetricsProvider

	// Clock is for tests. Defaults to the real clock.
	Clock clock.WithTicker

	// Queue is the queue to which items are added after their delays. By default a new queue is
	// made with the options above.
	Queue TypedInterface[T]
}

// NewDelayingQueue returns an empty queue without metrics.
//
// Deprecated: use NewTypedDelayingQueue.
func NewDelayingQueue() DelayingInterface { return NewTypedDelayingQueue[any]() }

// NewTypedDelayingQueue returns an empty queue without metrics.
func NewTypedDelayingQueue[T comparable]() TypedDelayingInterface[T] {
	return NewTypedDelayingQueueWithConfig(TypedDelayingQueueConfig[T]{})
}

// TypedNewDelayingQueue is NewTypedDelayingQueue.
//
// Deprecated: use NewTypedDelayingQueue.
func TypedNewDelayingQueue[T comparable]() TypedDelayingInterface[T] {
	return NewTypedDelayingQueue[T]()
}

// NewDelayingQueueWithConfig returns an empty queue. If the config has a Queue, the result adds
// delays to this Queue.
//
// Deprecated: use NewTypedDelayingQueueWithConfig.
func NewDelayingQueueWithConfig(config DelayingQueueConfig) DelayingInterface {
	return NewTypedDelayingQueueWithConfig(config)
}

// NewDelayingQueueWithCustomQueue returns a queue that adds delays to q.
//
// Deprecated: use NewTypedDelayingQueueWithConfig.
func NewDelayingQueueWithCustomQueue(q Interface, name string) DelayingInterface {
	return NewTypedDelayingQueueWithConfig(DelayingQueueConfig{Name: name, Queue: q})
}

// NewNamedDelayingQueue returns an empty queue whose metrics have this name.
//
// Deprecated: use NewTypedDelayingQueueWithConfig.
func NewNamedDelayingQueue(name string) DelayingInterface {
	return NewTypedDelayingQueueWithConfig(DelayingQueueConfig{Name: name})
}

// NewDelayingQueueWithCustomClock returns an empty queue with a clock, for tests.
//
// Deprecated: use NewTypedDelayingQueueWithConfig.
func NewDelayingQueueWithCustomClock(clock clock.WithTicker, name string) DelayingInterface {
	return NewTypedDelayingQueueWithConfig(DelayingQueueConfig{Name: name, Clock: clock})
}

// NewTypedDelayingQueueWithConfig returns an empty queue. If the config has a Queue, the result
// adds delays to this Queue. If the config has a Clock, the queue has a goroutine until it is shut
// down.
func NewTypedDelayingQueueWithConfig[T comparable](config TypedDelayingQueueConfig[T]) TypedDelayingInterface[T] {
	q := &delaying[T]{TypedInterface: config.Queue}
	if config.Queue == nil {
		own, inner := newTyped(TypedQueueConfig[T]{
			Name:            config.Name,
			MetricsProvider: config.MetricsProvider,
			Clock:           config.Clock,
		})
		q.TypedInterface = own
		if inner != nil {
			q.delays = (*coreDelays[T])(inner)
		}
	}
	if p := metricsProviderFor(config.MetricsProvider, config.Name); p != nil {
		q.retries = p.NewRetriesMetric(config.Name)
	}
	if q.delays != nil {
		return q
	}
	add := withCrashHandling(config.Logger, q.TypedInterface.Add)
	if isReal(config.Clock) {
		q.delays = newForwardingDelays(add)
	} else {
		q.delays = newClockDelays(config.Clock, add)
	}
	return q
}

type delaying[T comparable] struct {
	TypedInterface[T]
	delays  delays[T]
	retries CounterMetric // nil without metrics
}

// delays adds items to a queue when their time has come.
type delays[T comparable] interface {
	addAfter(item T, d time.Duration) // d is positive
	// stop discards the delayed items. It may be called more than once.
	stop()
}

func (q *delaying[T]) AddAfter(item T, duration time.Duration) {
	if q.ShuttingDown() {
		return
	}
	if q.retries != nil {
		q.retries.Inc()
	}
	if duration <= 0 {
		q.Add(item)
		return
	}
	q.delays.addAfter(item, duration)
}

func (q *delaying[T]) ShutDown() {
	q.TypedInterface.ShutDown()
	q.delays.stop()
}

func (q *delaying[T]) ShutDownWithDrain() {
	q.delays.stop() // discards delayed items, so that none is added after the drain
	q.TypedInterface.ShutDownWithDrain()
}

// coreDelays implements delays with the kinform queue that also holds the items.
type coreDelays[T comparable] core.Queue[T]

func (k *coreDelays[T]) addAfter(item T, d time.Duration) { (*core.Queue[T])(k).AddAfter(item, d) }
func (k *coreDelays[T]) stop()                            {}

// forwardingDelays implements delays for a program's own queue. A kinform queue holds the delayed
// items, and forward moves items that are due to the program's queue.
type forwardingDelays[T comparable] struct {
	due *core.Queue[T]
	add func(T)
}

func newForwardingDelays[T comparable](add func(T)) *forwardingDelays[T] {
	f := &forwardingDelays[T]{add: add}
	f.due = core.New(core.Options[T]{Observer: &core.Observer[T]{OnAdd: func(T) { f.forward() }}})
	return f
}

func (f *forwardingDelays[T]) addAfter(item T, d time.Duration) { f.due.AddAfter(item, d) }
func (f *forwardingDelays[T]) stop()                            { f.due.ShutDown() }

func (f *forwardingDelays[T]) forward() {
	for {
		item, ok := f.due.TryGet()
		if !ok {
			return
		}
		f.due.Done(item) // before add, so that an AddAfter inside add starts a new delay
		f.add(item)
	}
}

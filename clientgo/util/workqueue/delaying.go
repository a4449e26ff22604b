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

// TypedDelayingInterface is a queue that adds items later.
type TypedDelayingInterface[T comparable] interface {
	TypedInterface[T]
	// AddAfter adds the item when the duration has passed, or at once if it is not positive. An item has one time
	// to be added at: of several, the earliest stands. It does nothing after ShutDown.
	AddAfter(item T, duration time.Duration)
}

// DelayingQueueConfig is TypedDelayingQueueConfig for items of any type.
//
// Deprecated: use TypedDelayingQueueConfig.
type DelayingQueueConfig = TypedDelayingQueueConfig[any]

// TypedDelayingQueueConfig says how a queue works. The zero value works.
type TypedDelayingQueueConfig[T comparable] struct {
	// Logger gets panics of Queue's Add, which end the process. The queue's name is not added to it. Defaults to
	// klog's.
	Logger *klog.Logger

	// Name is the name in the metrics. A queue without a name has none. Defaults to "".
	Name string

	// MetricsProvider makes the queue's metrics. Defaults to that of SetProvider.
	MetricsProvider MetricsProvider

	// Clock is for tests. Defaults to the real one.
	Clock clock.WithTicker

	// Queue is the queue that items are added to. Defaults to one with the fields above.
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

// NewDelayingQueueWithConfig returns an empty queue, or the config's with delays.
//
// Deprecated: use NewTypedDelayingQueueWithConfig.
func NewDelayingQueueWithConfig(config DelayingQueueConfig) DelayingInterface {
	return NewTypedDelayingQueueWithConfig(config)
}

// NewDelayingQueueWithCustomQueue returns the queue with delays.
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

// NewTypedDelayingQueueWithConfig returns an empty queue, or the config's with delays. One with a clock has a
// goroutine until it is shut down.
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
			q.delays = (*keptDelays[T])(inner)
		}
	}
	if p := providerFor(config.MetricsProvider, config.Name); p != nil {
		q.retries = p.NewRetriesMetric(config.Name)
	}
	if q.delays != nil {
		return q
	}
	add := handled(config.Logger, q.TypedInterface.Add)
	if isReal(config.Clock) {
		q.delays = newForwarded(add)
	} else {
		q.delays = newClocked(config.Clock, add)
	}
	return q
}

type delaying[T comparable] struct {
	TypedInterface[T]
	delays  delays[T]
	retries CounterMetric // nil if there are no metrics
}

// delays adds items to a queue when their time has come.
type delays[T comparable] interface {
	addAfter(item T, d time.Duration) // d is positive
	// stop discards the items that are delayed. It may be called again.
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
	q.delays.stop() // no delay ends any more, so none is left when the drain is over
	q.TypedInterface.ShutDownWithDrain()
}

// keptDelays are those of the queue itself, which is kinform's.
type keptDelays[T comparable] core.Queue[T]

func (k *keptDelays[T]) addAfter(item T, d time.Duration) { (*core.Queue[T])(k).AddAfter(item, d) }
func (k *keptDelays[T]) stop()                            {}

// forwarded are delays for a queue that the program has brought: kinform's queue keeps the times, and what it would
// hand out is added to the other.
type forwarded[T comparable] struct {
	due *core.Queue[T]
	add func(T)
}

func newForwarded[T comparable](add func(T)) *forwarded[T] {
	f := &forwarded[T]{add: add}
	f.due = core.New(core.Options[T]{Observer: &core.Observer[T]{OnAdd: func(T) { f.forward() }}})
	return f
}

func (f *forwarded[T]) addAfter(item T, d time.Duration) { f.due.AddAfter(item, d) }
func (f *forwarded[T]) stop()                            { f.due.ShutDown() }

func (f *forwarded[T]) forward() {
	for {
		item, ok := f.due.TryGet()
		if !ok {
			return
		}
		f.due.Done(item) // before the add: an AddAfter that it brings about is a new one
		f.add(item)
	}
}

package workqueue

import "k8s.io/utils/clock"

// RateLimitingInterface is TypedRateLimitingInterface for items of any type.
//
// Deprecated: use TypedRateLimitingInterface.
type RateLimitingInterface TypedRateLimitingInterface[any]

// TypedRateLimitingInterface is a queue that can add items after a wait. A rate limiter determines
// the wait.
type TypedRateLimitingInterface[T comparable] interface {
	TypedDelayingInterface[T]

	// AddRateLimited adds the item after the limiter's wait.
	AddRateLimited(item T)

	// Forget resets the item's failure count in the limiter. Call it if the item succeeded, or will
	// not be retried. The caller must also call Done.
	Forget(item T)

	// NumRequeues returns the limiter's count of the item's consecutive failures.
	NumRequeues(item T) int
}

// RateLimitingQueueConfig is TypedRateLimitingQueueConfig for items of any type.
//
// Deprecated: use TypedRateLimitingQueueConfig.
type RateLimitingQueueConfig = TypedRateLimitingQueueConfig[any]

// TypedRateLimitingQueueConfig configures a queue. The zero value works.
type TypedRateLimitingQueueConfig[T comparable] struct {
	// Name is the queue's name in metrics. A queue without a name has no metrics. Defaults to "".
	Name string

	// MetricsProvider makes the queue's metrics. Defaults to the provider set by SetProvider.
	MetricsProvider MetricsProvider

	// Clock is for tests. Defaults to the real clock.
	Clock clock.WithTicker

	// DelayingQueue is the queue to which items are added. By default a new queue is made with the
	// options above.
	DelayingQueue TypedDelayingInterface[T]
}

// NewRateLimitingQueue returns an empty queue without metrics.
//
// Deprecated: use NewTypedRateLimitingQueue.
func NewRateLimitingQueue(rateLimiter RateLimiter) RateLimitingInterface {
	return NewTypedRateLimitingQueue[any](rateLimiter)
}

// NewTypedRateLimitingQueue returns an empty queue without metrics.
func NewTypedRateLimitingQueue[T comparable](rateLimiter TypedRateLimiter[T]) TypedRateLimitingInterface[T] {
	return NewTypedRateLimitingQueueWithConfig(rateLimiter, TypedRateLimitingQueueConfig[T]{})
}

// NewNamedRateLimitingQueue returns an empty queue whose metrics have this name.
//
// Deprecated: use NewTypedRateLimitingQueueWithConfig.
func NewNamedRateLimitingQueue(rateLimiter RateLimiter, name string) RateLimitingInterface {
	return NewTypedRateLimitingQueueWithConfig[any](rateLimiter, RateLimitingQueueConfig{Name: name})
}

// NewRateLimitingQueueWithDelayingInterface returns a queue that adds a limiter to di.
//
// Deprecated: use NewTypedRateLimitingQueueWithConfig.
func NewRateLimitingQueueWithDelayingInterface(di DelayingInterface, rateLimiter RateLimiter) RateLimitingInterface {
	return NewTypedRateLimitingQueueWithConfig[any](rateLimiter, RateLimitingQueueConfig{DelayingQueue: di})
}

// NewRateLimitingQueueWithConfig returns an empty queue.
//
// Deprecated: use NewTypedRateLimitingQueueWithConfig.
func NewRateLimitingQueueWithConfig(rateLimiter RateLimiter, config RateLimitingQueueConfig) RateLimitingInterface {
	return NewTypedRateLimitingQueueWithConfig[any](rateLimiter, config)
}

// NewTypedRateLimitingQueueWithConfig returns an empty queue. If the config has a DelayingQueue,
// the result adds a limiter to this queue.
func NewTypedRateLimitingQueueWithConfig[T comparable](rateLimiter TypedRateLimiter[T], config TypedRateLimitingQueueConfig[T]) TypedRateLimitingInterface[T] {
	if config.DelayingQueue == nil {
		config.DelayingQueue = NewTypedDelayingQueueWithConfig(TypedDelayingQueueConfig[T]{
			Name:            config.Name,
			MetricsProvider: config.MetricsProvider,
			Clock:           config.Clock,
		})
	}
	return &rateLimiting[T]{config.DelayingQueue, rateLimiter}
}

type rateLimiting[T comparable] struct {
	TypedDelayingInterface[T]
	limiter TypedRateLimiter[T]
}

func (q *rateLimiting[T]) AddRateLimited(item T) { q.AddAfter(item, q.limiter.When(item)) }

func (q *rateLimiting[T]) Forget(item T) { q.limiter.Forget(item) }

func (q *rateLimiting[T]) NumRequeues(item T) int { return q.limiter.NumRequeues(item) }

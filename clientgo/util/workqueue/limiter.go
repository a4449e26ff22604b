package workqueue

import (
	"time"

	core "github.com/kinform/kinform/workqueue"
	"golang.org/x/time/rate"
)

// RateLimiter is TypedRateLimiter for items of any type.
//
// Deprecated: use TypedRateLimiter.
type RateLimiter TypedRateLimiter[any]

// TypedRateLimiter decides how long an item waits that has failed. It must be safe for concurrent use.
type TypedRateLimiter[T comparable] interface {
	// When counts a failure of the item and returns how long to wait.
	When(item T) time.Duration
	// Forget ends the count of the item's failures: it succeeded, or was given up.
	Forget(item T)
	// NumRequeues is how many failures of the item were counted since its last Forget.
	NumRequeues(item T) int
}

// DefaultControllerRateLimiter is DefaultTypedControllerRateLimiter for items of any type.
//
// Deprecated: use DefaultTypedControllerRateLimiter.
func DefaultControllerRateLimiter() RateLimiter { return DefaultTypedControllerRateLimiter[any]() }

// DefaultTypedControllerRateLimiter returns the usual limiter of controllers: for each item 5 ms, doubled by each
// failure, up to 1000 s, and over all items 10 a second with a burst of 100.
func DefaultTypedControllerRateLimiter[T comparable]() TypedRateLimiter[T] {
	return NewTypedMaxOfRateLimiter(
		NewTypedItemExponentialFailureRateLimiter[T](5*time.Millisecond, 1000*time.Second),
		&TypedBucketRateLimiter[T]{Limiter: rate.NewLimiter(10, 100)},
	)
}

// DefaultItemBasedRateLimiter is DefaultTypedItemBasedRateLimiter for items of any type.
//
// Deprecated: use DefaultTypedItemBasedRateLimiter.
func DefaultItemBasedRateLimiter() RateLimiter { return DefaultTypedItemBasedRateLimiter[any]() }

// DefaultTypedItemBasedRateLimiter returns a limiter that waits for each item 1 ms, doubled by each failure, up to
// 1000 s.
func DefaultTypedItemBasedRateLimiter[T comparable]() TypedRateLimiter[T] {
	return NewTypedItemExponentialFailureRateLimiter[T](time.Millisecond, 1000*time.Second)
}

// BucketRateLimiter is TypedBucketRateLimiter for items of any type.
//
// Deprecated: use TypedBucketRateLimiter.
type BucketRateLimiter = TypedBucketRateLimiter[any]

// TypedBucketRateLimiter waits for a token of the Limiter, which all items share.
type TypedBucketRateLimiter[T comparable] struct {
	*rate.Limiter
}

var _ RateLimiter = &BucketRateLimiter{}

// When takes a token, in advance if there is none, and returns how long it is until it exists.
func (r *TypedBucketRateLimiter[T]) When(T) time.Duration { return r.Limiter.Reserve().Delay() }

// NumRequeues is 0, as items are not told apart.
func (r *TypedBucketRateLimiter[T]) NumRequeues(T) int { return 0 }

// Forget does nothing, as items are not told apart.
func (r *TypedBucketRateLimiter[T]) Forget(T) {}

// ItemExponentialFailureRateLimiter is TypedItemExponentialFailureRateLimiter for items of any type.
//
// Deprecated: use TypedItemExponentialFailureRateLimiter.
type ItemExponentialFailureRateLimiter = TypedItemExponentialFailureRateLimiter[any]

// TypedItemExponentialFailureRateLimiter waits twice as long with each failure of an item.
type TypedItemExponentialFailureRateLimiter[T comparable] struct{ limiter core.RateLimiter[T] }

var _ RateLimiter = &ItemExponentialFailureRateLimiter{}

// NewItemExponentialFailureRateLimiter is NewTypedItemExponentialFailureRateLimiter for items of any type.
//
// Deprecated: use NewTypedItemExponentialFailureRateLimiter.
func NewItemExponentialFailureRateLimiter(baseDelay time.Duration, maxDelay time.Duration) RateLimiter {
	return NewTypedItemExponentialFailureRateLimiter[any](baseDelay, maxDelay)
}

// NewTypedItemExponentialFailureRateLimiter returns a limiter that waits baseDelay at the first failure of an item,
// and twice as long with each further one, up to maxDelay.
func NewTypedItemExponentialFailureRateLimiter[T comparable](baseDelay time.Duration, maxDelay time.Duration) TypedRateLimiter[T] {
	return &TypedItemExponentialFailureRateLimiter[T]{core.Exponential[T](baseDelay, maxDelay)}
}

// When counts a failure of the item and returns how long to wait.
func (r *TypedItemExponentialFailureRateLimiter[T]) When(item T) time.Duration {
	return r.limiter.When(item)
}

// NumRequeues is how many failures of the item were counted since its last Forget.
func (r *TypedItemExponentialFailureRateLimiter[T]) NumRequeues(item T) int {
	return r.limiter.NumRequeues(item)
}

// Forget ends the count of the item's failures.
func (r *TypedItemExponentialFailureRateLimiter[T]) Forget(item T) { r.limiter.Forget(item) }

// ItemFastSlowRateLimiter is TypedItemFastSlowRateLimiter for items of any type.
//
// Deprecated: use TypedItemFastSlowRateLimiter.
type ItemFastSlowRateLimiter = TypedItemFastSlowRateLimiter[any]

// TypedItemFastSlowRateLimiter waits one time at the first failures of an item, and another from then on.
type TypedItemFastSlowRateLimiter[T comparable] struct{ limiter core.RateLimiter[T] }

var _ RateLimiter = &ItemFastSlowRateLimiter{}

// NewItemFastSlowRateLimiter is NewTypedItemFastSlowRateLimiter for items of any type.
//
// Deprecated: use NewTypedItemFastSlowRateLimiter.
func NewItemFastSlowRateLimiter(fastDelay, slowDelay time.Duration, maxFastAttempts int) RateLimiter {
	return NewTypedItemFastSlowRateLimiter[any](fastDelay, slowDelay, maxFastAttempts)
}

// NewTypedItemFastSlowRateLimiter returns a limiter that waits fastDelay at the first maxFastAttempts failures of
// an item, and slowDelay from then on.
func NewTypedItemFastSlowRateLimiter[T comparable](fastDelay, slowDelay time.Duration, maxFastAttempts int) TypedRateLimiter[T] {
	return &TypedItemFastSlowRateLimiter[T]{core.FastSlow[T](fastDelay, slowDelay, maxFastAttempts)}
}

// When counts a failure of the item and returns how long to wait.
func (r *TypedItemFastSlowRateLimiter[T]) When(item T) time.Duration { return r.limiter.When(item) }

// NumRequeues is how many failures of the item were counted since its last Forget.
func (r *TypedItemFastSlowRateLimiter[T]) NumRequeues(item T) int { return r.limiter.NumRequeues(item) }

// Forget ends the count of the item's failures.
func (r *TypedItemFastSlowRateLimiter[T]) Forget(item T) { r.limiter.Forget(item) }

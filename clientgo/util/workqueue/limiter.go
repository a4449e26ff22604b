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

// TypedRateLimiter decides how long a failed item waits. It must be safe for concurrent use.
type TypedRateLimiter[T comparable] interface {
	// When counts a failure of the item and returns the time to wait.
	When(item T) time.Duration
	// Forget resets the item's failure count. Call it if the item succeeded, or will not be
	// retried.
	Forget(item T)
	// NumRequeues returns the number of the item's failures since its last Forget.
	NumRequeues(item T) int
}

// DefaultControllerRateLimiter is DefaultTypedControllerRateLimiter for items of any type.
//
// Deprecated: use DefaultTypedControllerRateLimiter.
func DefaultControllerRateLimiter() RateLimiter { return DefaultTypedControllerRateLimiter[any]() }

// DefaultTypedControllerRateLimiter returns the usual limiter of controllers. An item waits 5 ms
// after its first failure. Each further failure doubles the wait, up to 1000 s. All items together
// are limited to 10 per second with a burst of 100.
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

// DefaultTypedItemBasedRateLimiter returns a limiter with a wait of 1 ms after an item's first
// failure. Each further failure doubles the wait, up to 1000 s.
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

// When reserves a token and returns the time until the token is available.
func (r *TypedBucketRateLimiter[T]) When(T) time.Duration { return r.Limiter.Reserve().Delay() }

// NumRequeues returns 0, because all items share the bucket.
func (r *TypedBucketRateLimiter[T]) NumRequeues(T) int { return 0 }

// Forget does nothing, because all items share the bucket.
func (r *TypedBucketRateLimiter[T]) Forget(T) {}

// ItemExponentialFailureRateLimiter is TypedItemExponentialFailureRateLimiter for items of any
// type.
//
// Deprecated: use TypedItemExponentialFailureRateLimiter.
type ItemExponentialFailureRateLimiter = TypedItemExponentialFailureRateLimiter[any]

// TypedItemExponentialFailureRateLimiter doubles an item's wait with each failure.
type TypedItemExponentialFailureRateLimiter[T comparable] struct{ limiter core.RateLimiter[T] }

var _ RateLimiter = &ItemExponentialFailureRateLimiter{}

// NewItemExponentialFailureRateLimiter is NewTypedItemExponentialFailureRateLimiter for items of
// any type.
//
// Deprecated: use NewTypedItemExponentialFailureRateLimiter.
func NewItemExponentialFailureRateLimiter(baseDelay time.Duration, maxDelay time.Duration) RateLimiter {
	return NewTypedItemExponentialFailureRateLimiter[any](baseDelay, maxDelay)
}

// NewTypedItemExponentialFailureRateLimiter returns a limiter that waits baseDelay after an item's
// first failure. Each further failure doubles the wait, up to maxDelay.
func NewTypedItemExponentialFailureRateLimiter[T comparable](baseDelay time.Duration, maxDelay time.Duration) TypedRateLimiter[T] {
	return &TypedItemExponentialFailureRateLimiter[T]{core.Exponential[T](baseDelay, maxDelay)}
}

// When counts a failure of the item and returns the time to wait.
func (r *TypedItemExponentialFailureRateLimiter[T]) When(item T) time.Duration {
	return r.limiter.When(item)
}

// NumRequeues returns the number of the item's failures since its last Forget.
func (r *TypedItemExponentialFailureRateLimiter[T]) NumRequeues(item T) int {
	return r.limiter.NumRequeues(item)
}

// Forget resets the item's failure count.
func (r *TypedItemExponentialFailureRateLimiter[T]) Forget(item T) { r.limiter.Forget(item) }

// ItemFastSlowRateLimiter is TypedItemFastSlowRateLimiter for items of any type.
//
// Deprecated: use TypedItemFastSlowRateLimiter.
type ItemFastSlowRateLimiter = TypedItemFastSlowRateLimiter[any]

// TypedItemFastSlowRateLimiter has a short wait for the first failures of an item, and a long wait
// for later failures.
type TypedItemFastSlowRateLimiter[T comparable] struct{ limiter core.RateLimiter[T] }

var _ RateLimiter = &ItemFastSlowRateLimiter{}

// NewItemFastSlowRateLimiter is NewTypedItemFastSlowRateLimiter for items of any type.
//
// Deprecated: use NewTypedItemFastSlowRateLimiter.
func NewItemFastSlowRateLimiter(fastDelay, slowDelay time.Duration, maxFastAttempts int) RateLimiter {
	return NewTypedItemFastSlowRateLimiter[any](fastDelay, slowDelay, maxFastAttempts)
}

// NewTypedItemFastSlowRateLimiter returns a limiter that waits fastDelay for the first
// maxFastAttempts failures of an item, and slowDelay for later failures.
func NewTypedItemFastSlowRateLimiter[T comparable](fastDelay, slowDelay time.Duration, maxFastAttempts int) TypedRateLimiter[T] {
	return &TypedItemFastSlowRateLimiter[T]{core.FastSlow[T](fastDelay, slowDelay, maxFastAttempts)}
}

// When counts a failure of the item and returns the time to wait.
func (r *TypedItemFastSlowRateLimiter[T]) When(item T) time.Duration { return r.limiter.When(item) }

// NumRequeues returns the number of the item's failures since its last Forget.
func (r *TypedItemFastSlowRateLimiter[T]) NumRequeues(item T) int { return r.limiter.NumRequeues(item) }

// Forget resets the item's failure count.
func (r *TypedItemFastSlowRateLimiter[T]) Forget(item T) { r.limiter.Forget(item) }

package workqueue

import (
	"time"

	core "github.com/kinform/kinform/workqueue"
)

// This file has the limiters that combine other limiters.

// MaxOfRateLimiter is TypedMaxOfRateLimiter for items of any type.
//
// Deprecated: use TypedMaxOfRateLimiter.
type MaxOfRateLimiter = TypedMaxOfRateLimiter[any]

// TypedMaxOfRateLimiter waits as long as the limiter with the longest wait. Each call calls all
// limiters.
type TypedMaxOfRateLimiter[T comparable] struct{ limiter core.RateLimiter[T] }

var _ RateLimiter = &MaxOfRateLimiter{}

// NewMaxOfRateLimiter is NewTypedMaxOfRateLimiter for items of any type.
//
// Deprecated: use NewTypedMaxOfRateLimiter.
func NewMaxOfRateLimiter(limiters ...TypedRateLimiter[any]) RateLimiter {
	return NewTypedMaxOfRateLimiter(limiters...)
}

// NewTypedMaxOfRateLimiter returns a TypedMaxOfRateLimiter of these limiters.
func NewTypedMaxOfRateLimiter[T comparable](limiters ...TypedRateLimiter[T]) TypedRateLimiter[T] {
	of := make([]core.RateLimiter[T], len(limiters))
	for i, limiter := range limiters {
		of[i] = limiter
	}
	return &TypedMaxOfRateLimiter[T]{core.MaxOf(of...)}
}

// When counts a failure of the item in each limiter, and returns the longest of their waits.
func (r *TypedMaxOfRateLimiter[T]) When(item T) time.Duration { return r.limiter.When(item) }

// NumRequeues returns the largest result of the limiters.
func (r *TypedMaxOfRateLimiter[T]) NumRequeues(item T) int { return r.limiter.NumRequeues(item) }

// Forget resets the item's failure count in each limiter.
func (r *TypedMaxOfRateLimiter[T]) Forget(item T) { r.limiter.Forget(item) }

// WithMaxWaitRateLimiter is TypedWithMaxWaitRateLimiter for items of any type.
//
// Deprecated: use TypedWithMaxWaitRateLimiter.
type WithMaxWaitRateLimiter = TypedWithMaxWaitRateLimiter[any]

// TypedWithMaxWaitRateLimiter limits the wait of another limiter.
type TypedWithMaxWaitRateLimiter[T comparable] struct{ limiter core.RateLimiter[T] }

var _ RateLimiter = &WithMaxWaitRateLimiter{}

// NewWithMaxWaitRateLimiter is NewTypedWithMaxWaitRateLimiter for items of any type.
//
// Deprecated: use NewTypedWithMaxWaitRateLimiter.
func NewWithMaxWaitRateLimiter(limiter RateLimiter, maxDelay time.Duration) RateLimiter {
	return NewTypedWithMaxWaitRateLimiter[any](limiter, maxDelay)
}

// NewTypedWithMaxWaitRateLimiter returns a limiter with the waits of the argument limiter, but at
// most maxDelay.
func NewTypedWithMaxWaitRateLimiter[T comparable](limiter TypedRateLimiter[T], maxDelay time.Duration) TypedRateLimiter[T] {
	return &TypedWithMaxWaitRateLimiter[T]{core.WithMaxWait[T](limiter, maxDelay)}
}

// When counts a failure of the item and returns the time to wait.
func (w TypedWithMaxWaitRateLimiter[T]) When(item T) time.Duration { return w.limiter.When(item) }

// Forget resets the item's failure count.
func (w TypedWithMaxWaitRateLimiter[T]) Forget(item T) { w.limiter.Forget(item) }

// NumRequeues returns the number of the item's failures since its last Forget.
func (w TypedWithMaxWaitRateLimiter[T]) NumRequeues(item T) int { return w.limiter.NumRequeues(item) }

package workqueue

import (
	"time"

	core "github.com/kinform/kinform/workqueue"
)

// This file has the limiters that are made of others.

// MaxOfRateLimiter is TypedMaxOfRateLimiter for items of any type.
//
// Deprecated: use TypedMaxOfRateLimiter.
type MaxOfRateLimiter = TypedMaxOfRateLimiter[any]

// TypedMaxOfRateLimiter waits as long as the most patient of its limiters. All are asked every time.
type TypedMaxOfRateLimiter[T comparable] struct{ limiter core.RateLimiter[T] }

var _ RateLimiter = &MaxOfRateLimiter{}

// NewMaxOfRateLimiter is NewTypedMaxOfRateLimiter for items of any type.
//
// Deprecated: use NewTypedMaxOfRateLimiter.
func NewMaxOfRateLimiter(limiters ...TypedRateLimiter[any]) RateLimiter {
	return NewTypedMaxOfRateLimiter(limiters...)
}

// NewTypedMaxOfRateLimiter returns a limiter that waits as long as the most patient of these.
func NewTypedMaxOfRateLimiter[T comparable](limiters ...TypedRateLimiter[T]) TypedRateLimiter[T] {
	of := make([]core.RateLimiter[T], len(limiters))
	for i, limiter := range limiters {
		of[i] = limiter
	}
	return &TypedMaxOfRateLimiter[T]{core.MaxOf(of...)}
}

// When counts a failure of the item with each limiter, and returns the longest of their times.
func (r *TypedMaxOfRateLimiter[T]) When(item T) time.Duration { return r.limiter.When(item) }

// NumRequeues is the largest of the limiters' counts.
func (r *TypedMaxOfRateLimiter[T]) NumRequeues(item T) int { return r.limiter.NumRequeues(item) }

// Forget ends the count of the item's failures, with each limiter.
func (r *TypedMaxOfRateLimiter[T]) Forget(item T) { r.limiter.Forget(item) }

// WithMaxWaitRateLimiter is TypedWithMaxWaitRateLimiter for items of any type.
//
// Deprecated: use TypedWithMaxWaitRateLimiter.
type WithMaxWaitRateLimiter = TypedWithMaxWaitRateLimiter[any]

// TypedWithMaxWaitRateLimiter waits no longer than some time.
type TypedWithMaxWaitRateLimiter[T comparable] struct{ limiter core.RateLimiter[T] }

var _ RateLimiter = &WithMaxWaitRateLimiter{}

// NewWithMaxWaitRateLimiter is NewTypedWithMaxWaitRateLimiter for items of any type.
//
// Deprecated: use NewTypedWithMaxWaitRateLimiter.
func NewWithMaxWaitRateLimiter(limiter RateLimiter, maxDelay time.Duration) RateLimiter {
	return NewTypedWithMaxWaitRateLimiter[any](limiter, maxDelay)
}

// NewTypedWithMaxWaitRateLimiter returns the limiter, except that it never waits longer than maxDelay.
func NewTypedWithMaxWaitRateLimiter[T comparable](limiter TypedRateLimiter[T], maxDelay time.Duration) TypedRateLimiter[T] {
	return &TypedWithMaxWaitRateLimiter[T]{core.WithMaxWait[T](limiter, maxDelay)}
}

// When counts a failure of the item and returns how long to wait.
func (w TypedWithMaxWaitRateLimiter[T]) When(item T) time.Duration { return w.limiter.When(item) }

// Forget ends the count of the item's failures.
func (w TypedWithMaxWaitRateLimiter[T]) Forget(item T) { w.limiter.Forget(item) }

// NumRequeues is how many failures of the item were counted since its last Forget.
func (w TypedWithMaxWaitRateLimiter[T]) NumRequeues(item T) int { return w.limiter.NumRequeues(item) }

package cache

import (
	"time"

	"k8s.io/utils/clock"
)

// RetryWithDeadline decides whether a failed operation may be retried. It allows retries for a
// limited time, as long as the errors are retryable.
type RetryWithDeadline interface {
	// After records the result of an attempt.
	After(error)
	// ShouldRetry reports whether another attempt is allowed.
	ShouldRetry() bool
}

// NewRetryWithDeadline returns a RetryWithDeadline for the errors for which isRetryable returns
// true. Other results have no effect. Retries are allowed until maxRetryDuration after the first
// error of a series; 0 means no retry. A new series starts if minResetPeriod has passed since the
// last error, or after ShouldRetry returned false (RC-36).
func NewRetryWithDeadline(maxRetryDuration, minResetPeriod time.Duration, isRetryable func(error) bool, clock clock.Clock) RetryWithDeadline {
	return &retryWithDeadline{maxRetryDuration: maxRetryDuration, minResetPeriod: minResetPeriod, isRetryable: isRetryable, clock: clock}
}

type retryWithDeadline struct {
	maxRetryDuration, minResetPeriod time.Duration
	isRetryable                      func(error) bool
	clock                            clock.Clock

	first, last time.Time // times of the first and last error of the series; zero outside a series
}

func (r *retryWithDeadline) After(err error) {
	if !r.isRetryable(err) {
		return
	}
	now := r.clock.Now()
	if r.first.IsZero() || now.Sub(r.last) >= r.minResetPeriod {
		r.first = now
	}
	r.last = now
}

func (r *retryWithDeadline) ShouldRetry() bool {
	if r.maxRetryDuration <= 0 {
		return false
	}
	if r.clock.Now().Sub(r.first) <= r.maxRetryDuration {
		return true
	}
	r.first, r.last = time.Time{}, time.Time{}
	return false
}

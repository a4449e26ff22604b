package cache

import (
	"time"

	"k8s.io/utils/clock"
)

// RetryWithDeadline says whether an operation that fails may be tried again: as long as its failures are of one kind,
// and for a limited time.
type RetryWithDeadline interface {
	// After tells of the outcome of an attempt.
	After(error)
	// ShouldRetry says whether there may be another attempt.
	ShouldRetry() bool
}

// NewRetryWithDeadline returns one for errors of which isRetryable is true. A row of them begins with the first one,
// and may go on for maxRetryDuration; 0 means that there is no other attempt. A failure that comes minResetPeriod after
// the one before it begins a new row, and so does the first one after a refusal (RC-36). Other outcomes change nothing.
func NewRetryWithDeadline(maxRetryDuration, minResetPeriod time.Duration, isRetryable func(error) bool, clock clock.Clock) RetryWithDeadline {
	return &retryRow{longest: maxRetryDuration, pause: minResetPeriod, counts: isRetryable, clock: clock}
}

type retryRow struct {
	longest, pause time.Duration
	counts         func(error) bool
	clock          clock.Clock

	first, last time.Time // zero if there is no row
}

func (r *retryRow) After(err error) {
	if !r.counts(err) {
		return
	}
	now := r.clock.Now()
	if r.first.IsZero() || now.Sub(r.last) >= r.pause {
		r.first = now
	}
	r.last = now
}

func (r *retryRow) ShouldRetry() bool {
	if r.longest <= 0 {
		return false
	}
	if r.clock.Now().Sub(r.first) <= r.longest {
		return true
	}
	r.first, r.last = time.Time{}, time.Time{}
	return false
}

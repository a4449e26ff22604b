// Package once has a value that is computed once, although several goroutines need it.
package once

import (
	"context"
	"sync"
)

// Value is computed on first use and then cached. Errors are not cached. The zero Value is empty.
// It is safe for concurrent use.
type Value[T any] struct {
	mu      sync.Mutex // guards following
	known   bool
	value   T
	running *call[T] // the running call of compute, which other callers wait for
}

type call[T any] struct {
	done chan struct{}

	// The following fields are written before done is closed.
	value     T
	err       error
	abandoned bool // the call was cancelled or panicked: a waiting caller must repeat it
}

// Get returns the value. If there is no value yet, Get calls compute. If another caller's compute
// is running, Get waits and returns its result, even an error. But if the other caller's context
// ends, Get calls its own compute. If ctx ends while Get waits, it returns the error of ctx.
func (v *Value[T]) Get(ctx context.Context, compute func(context.Context) (T, error)) (T, error) {
	for {
		v.mu.Lock()
		if v.known {
			defer v.mu.Unlock()
			return v.value, nil
		}
		q := v.running
		if q == nil {
			q = &call[T]{done: make(chan struct{}), abandoned: true}
			v.running = q
			v.mu.Unlock()
			return v.compute(ctx, q, compute)
		}
		v.mu.Unlock()
		select {
		case <-q.done:
		case <-ctx.Done():
			var none T
			return none, ctx.Err()
		}
		if !q.abandoned {
			return q.value, q.err
		}
	}
}

// compute calls the function of the same name, and caches its result unless Forget was called in
// the meantime.
func (v *Value[T]) compute(ctx context.Context, q *call[T], compute func(context.Context) (T, error)) (T, error) {
	defer func() { // also if compute panics
		v.mu.Lock()
		if v.running == q {
			v.running = nil
			if !q.abandoned && q.err == nil {
				v.known, v.value = true, q.value
			}
		}
		v.mu.Unlock()
		close(q.done)
	}()
	q.value, q.err = compute(ctx)
	q.abandoned = q.err != nil && ctx.Err() != nil
	return q.value, q.err
}

// Known reports whether there is a value.
func (v *Value[T]) Known() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.known
}

// Forget drops the value. If a value is being computed, only the callers that already wait get it.
func (v *Value[T]) Forget() {
	v.mu.Lock()
	defer v.mu.Unlock()
	var none T
	v.known, v.value, v.running = false, none, nil
}

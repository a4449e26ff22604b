// Package once computes a value once for several goroutines.
package once

import (
	"context"
	"sync"
)

// Value is computed on first use and then kept. Errors are not kept. The zero Value is empty. It is
// safe for concurrent use.
type Value[T any] struct {
	mu     sync.Mutex // guards following
	known  bool
	value  T
	asking *question[T] // the running call of ask, which other callers wait for
}

type question[T any] struct {
	done chan struct{}

	// Written before done is closed.
	value     T
	err       error
	abandoned bool // ask was cancelled or panicked, so another caller must ask again
}

// Get returns the value. Before the value is known, Get calls ask, or waits for another caller's
// ask and returns its result, even an error. If that caller's context ended, Get calls ask itself.
// Get returns early if ctx ends while it waits.
func (v *Value[T]) Get(ctx context.Context, ask func(context.Context) (T, error)) (T, error) {
	for {
		v.mu.Lock()
		if v.known {
			defer v.mu.Unlock()
			return v.value, nil
		}
		q := v.asking
		if q == nil {
			q = &question[T]{done: make(chan struct{}), abandoned: true}
			v.asking = q
			v.mu.Unlock()
			return v.ask(ctx, q, ask)
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

// ask calls ask, and keeps the value unless Forget was called in the meantime.
func (v *Value[T]) ask(ctx context.Context, q *question[T], ask func(context.Context) (T, error)) (T, error) {
	defer func() { // also if ask panics
		v.mu.Lock()
		if v.asking == q {
			v.asking = nil
			if !q.abandoned && q.err == nil {
				v.known, v.value = true, q.value
			}
		}
		v.mu.Unlock()
		close(q.done)
	}()
	q.value, q.err = ask(ctx)
	q.abandoned = q.err != nil && ctx.Err() != nil
	return q.value, q.err
}

// Known reports whether there is a value.
func (v *Value[T]) Known() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.known
}

// Forget drops the value. A value that is being computed is returned only to callers that already
// wait for it.
func (v *Value[T]) Forget() {
	v.mu.Lock()
	defer v.mu.Unlock()
	var none T
	v.known, v.value, v.asking = false, none, nil
}

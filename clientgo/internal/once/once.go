// Package once remembers an answer that several goroutines want.
package once

import (
	"context"
	"sync"
)

// Value is an answer that is asked for when it is wanted first, and then remembered. Errors are not remembered. The zero value knows
// nothing. It is safe for concurrent use.
type Value[T any] struct {
	mu     sync.Mutex // guards following
	known  bool
	value  T
	asking *question[T] // the one that other callers wait for
}

type question[T any] struct {
	done chan struct{}

	// Written before done is closed.
	value     T
	err       error
	abandoned bool // there is no answer that another caller could use
}

// Get returns the answer. If it is not known, Get calls ask, or waits for another caller that does; that one's error is then the error
// of both, unless its context has ended. It returns early if ctx ends while it waits.
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

// ask calls ask, and remembers the answer unless Forget was called in the meantime.
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

// Known returns whether there is an answer.
func (v *Value[T]) Known() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.known
}

// Forget forgets the answer. One that is on its way is for those who wait for it already.
func (v *Value[T]) Forget() {
	v.mu.Lock()
	defer v.mu.Unlock()
	var none T
	v.known, v.value, v.asking = false, none, nil
}

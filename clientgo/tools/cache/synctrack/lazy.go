package synctrack

import "sync/atomic"

// Lazy keeps the result of a function until it is told that it is out of date, and calls the function again when it is
// asked next. All methods are safe for concurrent use.
type Lazy[T any] struct {
	// Evaluate returns the result. It may be called by several goroutines at once: by one for each call of Notify.
	Evaluate func() (T, error)

	result atomic.Pointer[lazyResult[T]]
}

// lazyResult is the result since the last Notify.
type lazyResult[T any] struct {
	turn  chan struct{} // has a value while Evaluate runs, or the following is read
	done  bool
	value T
}

// Notify says that the result is out of date. It does not wait: a call of Evaluate that is in progress goes on for those
// who wait for it.
func (z *Lazy[T]) Notify() { z.result.Store(nil) }

// Get returns the result, from Evaluate if there is none since the last Notify. Those who ask meanwhile wait for it. An
// error is returned to one of them, and is not kept.
func (z *Lazy[T]) Get() (T, error) {
	r := z.result.Load()
	for r == nil {
		if fresh := (&lazyResult[T]{turn: make(chan struct{}, 1)}); z.result.CompareAndSwap(nil, fresh) {
			r = fresh
		} else {
			r = z.result.Load()
		}
	}
	r.turn <- struct{}{}
	defer func() { <-r.turn }()
	if r.done {
		return r.value, nil
	}
	value, err := z.Evaluate()
	if err == nil {
		r.done, r.value = true, value
	}
	return value, err
}

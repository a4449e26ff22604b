package synctrack

import "sync/atomic"

// Lazy caches the result of a function. After Notify, the next Get calls the function again. All
// methods are safe for concurrent use.
type Lazy[T any] struct {
	// Evaluate returns the result. It may run in several goroutines at once: in one per call of
	// Notify.
	Evaluate func() (T, error)

	result atomic.Pointer[lazyResult[T]]
}

// lazyResult is the result since the last Notify.
type lazyResult[T any] struct {
	turn  chan struct{} // has a value while Evaluate runs or the following fields are read
	done  bool
	value T
}

// Notify marks the result as outdated. It does not block. A call of Evaluate in progress continues
// for the callers that wait for it.
func (z *Lazy[T]) Notify() { z.result.Store(nil) }

// Get returns the result. After Notify, it calls Evaluate; concurrent callers wait for that result.
// An error is returned to one caller and is not cached.
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

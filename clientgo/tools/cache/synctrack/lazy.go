package synctrack

import "sync/atomic"

// Lazy caches the result of a function. After Notify, the next Get calls the function again. All
// methods are safe for concurrent use.
type Lazy[T any] struct {
	// Evaluate computes the result. It may run in several goroutines at once, because each Notify
	// allows another call.
	Evaluate func() (T, error)

	result atomic.Pointer[lazyResult[T]]
}

// lazyResult is the result since the last Notify.
type lazyResult[T any] struct {
	lock  chan struct{} // a lock, held while Evaluate runs or the next fields are read
	done  bool
	value T
}

// Notify marks the result as outdated. It does not block. If Evaluate is running, the callers that
// wait for it still get its result.
func (z *Lazy[T]) Notify() { z.result.Store(nil) }

// Get returns the result. The first Get after Notify calls Evaluate, and concurrent callers wait
// for that result. An error is returned to one caller and is not cached.
func (z *Lazy[T]) Get() (T, error) {
	r := z.result.Load()
	for r == nil {
		if fresh := (&lazyResult[T]{lock: make(chan struct{}, 1)}); z.result.CompareAndSwap(nil, fresh) {
			r = fresh
		} else {
			r = z.result.Load()
		}
	}
	r.lock <- struct{}{}
	defer func() { <-r.lock }()
	if r.done {
		return r.value, nil
	}
	value, err := z.Evaluate()
	if err == nil {
		r.done, r.value = true, value
	}
	return value, err
}

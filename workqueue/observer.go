package workqueue

import (
	"time"

	"github.com/kinform/kinform/internal/contain"
)

// Observer is a set of hooks into a queue, in the style of net/http/httptrace.ClientTrace: set the
// hooks that you need.
//
// Hooks are called after an event, on the goroutine that caused it, without a lock, so they may
// call the queue. They may run concurrently, and hooks for one key may run out of order: a fast
// worker's OnGet can come before the producer's OnAdd. A slow hook slows down the goroutine that
// calls it. A panic of a hook is logged and counted, see Stats.HookPanics, and the queue goes on.
type Observer[K comparable] struct {
	// OnAdd: the key has become dirty, by an add or because its delay has passed.
	OnAdd func(key K)

	// OnMerged: the key was added while it was dirty already, so no further run follows; its Causes
	// count the add, and its priority may have risen.
	OnMerged func(key K)

	// OnGet: a worker got the key; the item says why and how long it has waited.
	OnGet func(item Item[K])

	// OnDone: the worker is done with the key, and ran is the time since it got the key.
	OnDone func(key K, ran time.Duration)

	// OnRetry: the key will be added after this time, because of AddAfter, AddWith with an After,
	// Retry, or a requeue request in Run. If the key was delayed already, the DelayMode decides
	// which time counts.
	OnRetry func(key K, after time.Duration)

	// OnError: reconcile failed for the key in Run, with a *PanicError if it panicked. OnRetry
	// follows unless the error was dropped or the queue is shutting down.
	OnError func(key K, err error)
}

// contained returns a copy whose hooks do not panic.
func (o *Observer[K]) contained(h *contain.Hooks) *Observer[K] {
	if o == nil {
		return nil
	}
	own := *o
	own.OnAdd = contain.Hook(h, "Observer.OnAdd", o.OnAdd)
	own.OnMerged = contain.Hook(h, "Observer.OnMerged", o.OnMerged)
	own.OnGet = contain.Hook(h, "Observer.OnGet", o.OnGet)
	own.OnDone = contain.Hook2(h, "Observer.OnDone", o.OnDone)
	own.OnRetry = contain.Hook2(h, "Observer.OnRetry", o.OnRetry)
	own.OnError = contain.Hook2(h, "Observer.OnError", o.OnError)
	return &own
}

// The methods below call a hook if it is set; a nil Observer has no hooks.

func (o *Observer[K]) added(key K, result addResult) {
	switch {
	case o == nil:
	case result == accepted && o.OnAdd != nil:
		o.OnAdd(key)
	case result == merged && o.OnMerged != nil:
		o.OnMerged(key)
	}
}

func (o *Observer[K]) got(item *Item[K]) {
	if o != nil && o.OnGet != nil {
		o.OnGet(*item)
	}
}

func (o *Observer[K]) done(key K, ran time.Duration) {
	if o != nil && o.OnDone != nil {
		o.OnDone(key, ran)
	}
}

func (o *Observer[K]) retried(key K, after time.Duration) {
	if o != nil && o.OnRetry != nil {
		o.OnRetry(key, after)
	}
}

func (o *Observer[K]) failed(key K, err error) {
	if o != nil && o.OnError != nil {
		o.OnError(key, err)
	}
}

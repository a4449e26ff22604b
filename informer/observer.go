package informer

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Observer receives what an informer does, for metrics, traces and tests. Any field may be nil. The
// functions are called without locks held, by the goroutine that does the work. The goroutine waits
// for them, so they must be quick. A panic of any observer, and of reflector.Options.OnError, is
// logged, and the informer goes on.
type Observer struct {
	// OnApplied is called when a batch is in the store, before any handler is notified of it.
	OnApplied func(AppliedInfo)

	// OnDeliver is called after each call of a handler.
	OnDeliver func(DeliverInfo)

	// Sample is an OnDeliver for observers that want only some objects. It is called before each
	// call of a handler, and returns the function to call when the handler has returned, or nil. A
	// call that no function observes is not timed.
	Sample func(types.NamespacedName) func(DeliverInfo)
}

// deliverHooks returns the functions that observe a call of a handler. Both may be nil.
func (o *Observer) deliverHooks(key types.NamespacedName) (all, sample func(DeliverInfo)) {
	all = o.OnDeliver
	if o.Sample != nil {
		sample = o.Sample(key)
	}
	return all, sample
}

// AppliedInfo describes one batch that was applied to the store.
type AppliedInfo struct {
	// Keys are the keys that changed, in the order of the queue.
	Keys []types.NamespacedName

	// ResourceVersion is the version through which the store is complete.
	ResourceVersion string

	// Initial marks the batch with the first list.
	Initial bool
}

// DeliverInfo describes one call of one handler.
type DeliverInfo struct {
	Handler         string
	Type            EventType
	Cause           Cause
	Key             types.NamespacedName
	ResourceVersion string

	// Waited is how long the event was in the mailbox, and Ran is how long the handler took.
	Waited, Ran time.Duration
}

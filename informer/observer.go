package informer

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Observer hears what an informer does, for metrics, traces and tests. Any field
// may be nil. The functions are called without locks held, by the goroutine that
// does the work, which waits for them: they must be quick. A panic of one is logged, as is one of the
// observers of the other stages and of reflector.Options.OnError, and the informer goes on.
type Observer struct {
	// OnApplied is called when one batch of the queue is in the store and before
	// any handler is told of it.
	OnApplied func(AppliedInfo)

	// OnDeliver is called when a handler has returned from one event.
	OnDeliver func(DeliverInfo)

	// Sample is for observers that look at some objects alone. It is asked before a handler is called, and returns the function
	// that hears of this call as OnDeliver would; nil is none. Where nobody hears of a call, it costs no look at the clock.
	Sample func(types.NamespacedName) func(DeliverInfo)
}

// hearers returns the functions that hear of a call of a handler. Both may be nil.
func (o *Observer) hearers(key types.NamespacedName) (all, sample func(DeliverInfo)) {
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

	// ResourceVersion is what the store is complete through.
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

	// Waited is how long the event lay in the mailbox, Ran how long the handler
	// took.
	Waited, Ran time.Duration
}

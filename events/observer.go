package events

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Observer is a set of hooks into a Recorder. Each may be nil. They are called by
// [Recorder.Run], without a lock, one at a time: who records an event never waits for them, and
// what they do delays the next request.
type Observer struct {
	// OnRequest: a request about an Event was answered. created tells the first one
	// from those that count a series; err is nil if it succeeded.
	OnRequest func(event types.NamespacedName, created bool, took time.Duration, err error)

	// OnDrop: n events were dropped for this reason since the last call.
	OnDrop func(why Drop, n uint64)
}

// The methods below call a hook if there is one; a nil Observer has none.

func (o *Observer) request(event types.NamespacedName, created bool, took time.Duration, err error) {
	if o != nil && o.OnRequest != nil {
		o.OnRequest(event, created, took, err)
	}
}

func (o *Observer) drop(why Drop, n uint64) {
	if o != nil && o.OnDrop != nil {
		o.OnDrop(why, n)
	}
}

package events

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/internal/contain"
)

// Observer is a set of hooks into a Recorder. Each may be nil. [Recorder.Run] calls them, with no
// lock held, one at a time. Recording never waits for them. A hook delays the next request until
// it returns. A panic of a hook is logged, and the Recorder goes on.
type Observer struct {
	// OnRequest is called when a request about an Event has got its response or failed. created
	// says that the request was to create the Event; otherwise it wrote the count of a series. err
	// is nil if the request succeeded.
	OnRequest func(event types.NamespacedName, created bool, took time.Duration, err error)

	// OnDrop is called when n events were dropped for this reason since the last call.
	OnDrop func(reason DropReason, n uint64)
}

// contained returns a copy whose hooks do not panic.
func (o *Observer) contained(h *contain.Hooks) *Observer {
	if o == nil {
		return nil
	}
	own := *o
	own.OnDrop = contain.Hook2(h, "Observer.OnDrop", o.OnDrop)
	if o.OnRequest != nil {
		own.OnRequest = func(event types.NamespacedName, created bool, took time.Duration, err error) {
			h.Call("Observer.OnRequest", func() { o.OnRequest(event, created, took, err) })
		}
	}
	return &own
}

// The methods below call a hook if it is set; a nil Observer has no hooks.

func (o *Observer) request(event types.NamespacedName, created bool, took time.Duration, err error) {
	if o != nil && o.OnRequest != nil {
		o.OnRequest(event, created, took, err)
	}
}

func (o *Observer) drop(reason DropReason, n uint64) {
	if o != nil && o.OnDrop != nil {
		o.OnDrop(reason, n)
	}
}

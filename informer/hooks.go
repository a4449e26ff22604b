package informer

import (
	"log/slog"

	"github.com/kinform/kinform/internal/contain"
)

// containHooks lets the hooks of all stages be functions that do not panic.
func (o *Options[T]) containHooks(h *contain.Hooks) {
	h.Logger, h.Attrs = o.Logger, []slog.Attr{slog.String("informer", o.Name)}
	if o.Observer != nil {
		own := *o.Observer
		own.OnApplied = contain.Hook(h, "Observer.OnApplied", own.OnApplied)
		o.Observer = &own // Registration.deliver contains the others.
	}
	if o.Queue.Observer != nil {
		own := *o.Queue.Observer
		own.OnDelta = contain.Hook3(h, "Queue.Observer.OnDelta", own.OnDelta)
		own.OnBatch = contain.Hook(h, "Queue.Observer.OnBatch", own.OnBatch)
		o.Queue.Observer = &own
	}
	if o.Store.Observer != nil {
		own := *o.Store.Observer
		own.OnApplied = contain.Hook(h, "Store.Observer.OnApplied", own.OnApplied)
		own.OnWaited = contain.Hook(h, "Store.Observer.OnWaited", own.OnWaited)
		o.Store.Observer = &own
	}
	o.Reflector.OnError = contain.Hook(h, "Reflector.OnError", o.Reflector.OnError)
	if o.Reflector.Observer != nil {
		own := *o.Reflector.Observer
		own.OnPhase = contain.Hook(h, "Reflector.Observer.OnPhase", own.OnPhase)
		own.OnPage = contain.Hook(h, "Reflector.Observer.OnPage", own.OnPage)
		own.OnItem = contain.Hook(h, "Reflector.Observer.OnItem", own.OnItem)
		own.OnEvent = contain.Hook(h, "Reflector.Observer.OnEvent", own.OnEvent)
		own.OnWait = contain.Hook(h, "Reflector.Observer.OnWait", own.OnWait)
		o.Reflector.Observer = &own
	}
}

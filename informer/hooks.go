package informer

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/deltafifo"
	"github.com/kinform/kinform/indexer"
	"github.com/kinform/kinform/internal/contain"
	"github.com/kinform/kinform/reflector"
)

// containHooks wraps the hooks of all stages, so that their panics are contained. A generic
// function such as [contain.Hook] would add 1.5 kB to the binary for each hook.
func (o *Options[T]) containHooks(h *contain.Hooks) {
	h.Logger, h.Attrs = o.Logger, []any{"informer", o.Name}
	o.Observer = wrapInformerObserver(h, o.Observer)
	o.Queue.Observer = wrapQueueObserver(h, o.Queue.Observer)
	o.Store.Observer = wrapStoreObserver(h, o.Store.Observer)
	if f := o.Reflector.OnError; f != nil {
		o.Reflector.OnError = func(i reflector.Error) { h.Call("Reflector.OnError", func() { f(i) }) }
	}
	o.Reflector.Observer = wrapReflectorObserver(h, o.Reflector.Observer)
}

func wrapInformerObserver(h *contain.Hooks, o *Observer) *Observer {
	if o == nil {
		return nil
	}
	wrapped := *o
	if f := wrapped.OnApplied; f != nil {
		wrapped.OnApplied = func(i AppliedInfo) { h.Call("Observer.OnApplied", func() { f(i) }) }
	}
	return &wrapped // Registration.deliver contains the panics of the other functions.
}

func wrapQueueObserver(h *contain.Hooks, o *deltafifo.Observer) *deltafifo.Observer {
	if o == nil {
		return nil
	}
	wrapped := *o
	if f := wrapped.OnDelta; f != nil {
		wrapped.OnDelta = func(key types.NamespacedName, t deltafifo.DeltaType, v string) {
			h.Call("Queue.Observer.OnDelta", func() { f(key, t, v) })
		}
	}
	if f := wrapped.OnBatch; f != nil {
		wrapped.OnBatch = func(i deltafifo.BatchInfo) { h.Call("Queue.Observer.OnBatch", func() { f(i) }) }
	}
	return &wrapped
}

func wrapStoreObserver(h *contain.Hooks, o *indexer.Observer) *indexer.Observer {
	if o == nil {
		return nil
	}
	wrapped := *o
	if f := wrapped.OnApplied; f != nil {
		wrapped.OnApplied = func(i indexer.AppliedInfo) { h.Call("Store.Observer.OnApplied", func() { f(i) }) }
	}
	if f := wrapped.OnWaited; f != nil {
		wrapped.OnWaited = func(i indexer.WaitedInfo) { h.Call("Store.Observer.OnWaited", func() { f(i) }) }
	}
	return &wrapped
}

func wrapReflectorObserver(h *contain.Hooks, o *reflector.Observer) *reflector.Observer {
	if o == nil {
		return nil
	}
	wrapped := *o
	if f := wrapped.OnPhase; f != nil {
		wrapped.OnPhase = func(i reflector.PhaseChange) { h.Call("Reflector.Observer.OnPhase", func() { f(i) }) }
	}
	if f := wrapped.OnPage; f != nil {
		wrapped.OnPage = func(i reflector.PageInfo) { h.Call("Reflector.Observer.OnPage", func() { f(i) }) }
	}
	if f := wrapped.OnItem; f != nil {
		wrapped.OnItem = func(i reflector.ItemInfo) { h.Call("Reflector.Observer.OnItem", func() { f(i) }) }
	}
	if f := wrapped.OnEvent; f != nil {
		wrapped.OnEvent = func(i reflector.EventInfo) { h.Call("Reflector.Observer.OnEvent", func() { f(i) }) }
	}
	if f := wrapped.OnWait; f != nil {
		wrapped.OnWait = func(i time.Duration) { h.Call("Reflector.Observer.OnWait", func() { f(i) }) }
	}
	return &wrapped
}

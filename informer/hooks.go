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
	o.Observer = ofInformer(h, o.Observer)
	o.Queue.Observer = ofQueue(h, o.Queue.Observer)
	o.Store.Observer = ofStore(h, o.Store.Observer)
	if f := o.Reflector.OnError; f != nil {
		o.Reflector.OnError = func(i reflector.Error) { h.Call("Reflector.OnError", func() { f(i) }) }
	}
	o.Reflector.Observer = ofReflector(h, o.Reflector.Observer)
}

func ofInformer(h *contain.Hooks, o *Observer) *Observer {
	if o == nil {
		return nil
	}
	own := *o
	if f := own.OnApplied; f != nil {
		own.OnApplied = func(i AppliedInfo) { h.Call("Observer.OnApplied", func() { f(i) }) }
	}
	return &own // Registration.deliver contains the panics of the other functions.
}

func ofQueue(h *contain.Hooks, o *deltafifo.Observer) *deltafifo.Observer {
	if o == nil {
		return nil
	}
	own := *o
	if f := own.OnDelta; f != nil {
		own.OnDelta = func(key types.NamespacedName, t deltafifo.DeltaType, v string) {
			h.Call("Queue.Observer.OnDelta", func() { f(key, t, v) })
		}
	}
	if f := own.OnBatch; f != nil {
		own.OnBatch = func(i deltafifo.BatchInfo) { h.Call("Queue.Observer.OnBatch", func() { f(i) }) }
	}
	return &own
}

func ofStore(h *contain.Hooks, o *indexer.Observer) *indexer.Observer {
	if o == nil {
		return nil
	}
	own := *o
	if f := own.OnApplied; f != nil {
		own.OnApplied = func(i indexer.AppliedInfo) { h.Call("Store.Observer.OnApplied", func() { f(i) }) }
	}
	if f := own.OnWaited; f != nil {
		own.OnWaited = func(i indexer.WaitedInfo) { h.Call("Store.Observer.OnWaited", func() { f(i) }) }
	}
	return &own
}

func ofReflector(h *contain.Hooks, o *reflector.Observer) *reflector.Observer {
	if o == nil {
		return nil
	}
	own := *o
	if f := own.OnPhase; f != nil {
		own.OnPhase = func(i reflector.PhaseChange) { h.Call("Reflector.Observer.OnPhase", func() { f(i) }) }
	}
	if f := own.OnPage; f != nil {
		own.OnPage = func(i reflector.PageInfo) { h.Call("Reflector.Observer.OnPage", func() { f(i) }) }
	}
	if f := own.OnItem; f != nil {
		own.OnItem = func(i reflector.ItemInfo) { h.Call("Reflector.Observer.OnItem", func() { f(i) }) }
	}
	if f := own.OnEvent; f != nil {
		own.OnEvent = func(i reflector.EventInfo) { h.Call("Reflector.Observer.OnEvent", func() { f(i) }) }
	}
	if f := own.OnWait; f != nil {
		own.OnWait = func(i time.Duration) { h.Call("Reflector.Observer.OnWait", func() { f(i) }) }
	}
	return &own
}

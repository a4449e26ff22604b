package informer

import (
	"iter"

	"github.com/kinform/kinform/deltafifo"
	"github.com/kinform/kinform/listwatch"
	"k8s.io/apimachinery/pkg/types"
)

// sink writes the reflector's changes into the queue.
type sink[T any] struct {
	*deltafifo.FIFO[T]
	informer *Informer[T]
}

// Apply implements reflector.Sink.
func (s *sink[T]) Apply(event listwatch.Event[T]) error {
	s.informer.gate.pass()
	return s.FIFO.Apply(event)
}

// HeldObject implements reflector.Sink.
func (s *sink[T]) HeldObject(key types.NamespacedName) any {
	if entry, ok := s.informer.store.Entry(key); ok {
		return entry.Object
	}
	return nil
}

// NotifyUndecodable implements reflector.UndecodableNotifier.
func (s *sink[T]) NotifyUndecodable() { s.informer.store.NotifyUndecodable() }

// KeepUndecodable implements reflector.UndecodableKeeper.
func (s *sink[T]) KeepUndecodable(undecodable []*listwatch.ObjectError) {
	s.informer.keepUndecodable(undecodable)
}

// known gives the queue access to the keys and versions in the store. It also has the keys of
// objects that an index function refused, so that their deletion is reported.
type known[T any] struct{ informer *Informer[T] }

func (k *known[T]) LastApplied(key types.NamespacedName) (obj T, resourceVersion string, uidHash uint64, ok bool) {
	entry, ok := k.informer.store.Entry(key)
	return entry.Object, entry.ResourceVersion, entry.UIDHash, ok || k.informer.isRefused(key)
}

func (k *known[T]) AllKeys() iter.Seq[types.NamespacedName] {
	return func(yield func(types.NamespacedName) bool) {
		for key := range k.informer.store.Keys() {
			if !yield(key) {
				return
			}
		}
		for _, key := range k.informer.refusedKeys() {
			if _, stored := k.informer.store.Entry(key); !stored && !yield(key) {
				return
			}
		}
	}
}

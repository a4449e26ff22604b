package informer

import (
	"fmt"
	"iter"

	"github.com/kinform/kinform/deltafifo"
	"github.com/kinform/kinform/listwatch"
	"k8s.io/apimachinery/pkg/types"
)

// sink lets the reflector write into the queue: it puts what a list and a watch
// say into the words of deltas.
type sink[T any] struct{ informer *Informer[T] }

func (s *sink[T]) HasVersion(key types.NamespacedName, resourceVersion string, uidHash uint64) bool {
	return s.informer.queue.HasVersion(key, resourceVersion, uidHash)
}

// HeldObject implements reflector.Holder.
func (s *sink[T]) HeldObject(key types.NamespacedName) any {
	if entry, ok := s.informer.store.Entry(key); ok {
		return entry.Object
	}
	return nil
}

// WakeUnreadable implements reflector.Waker.
func (s *sink[T]) WakeUnreadable() { s.informer.store.WakeUnreadable() }

// KeepUnreadable implements reflector.Keeper.
func (s *sink[T]) KeepUnreadable(unread []*listwatch.ObjectError) { s.informer.keepUnreadable(unread) }

func (s *sink[T]) Replace(items []listwatch.Item[T], resourceVersion string) error {
	return s.informer.queue.Replace(itemsOf(items), resourceVersion)
}

// Restore implements reflector.Restorer.
func (s *sink[T]) Restore(items []listwatch.Item[T], resourceVersion string) error {
	return s.informer.queue.Restore(itemsOf(items), resourceVersion)
}

func itemsOf[T any](items []listwatch.Item[T]) iter.Seq[deltafifo.Item[T]] {
	return func(yield func(deltafifo.Item[T]) bool) {
		for _, item := range items {
			if !yield(deltafifo.Item[T](item)) {
				return
			}
		}
	}
}

func (s *sink[T]) Apply(event listwatch.Event[T]) error {
	s.informer.gate.pass()
	delta := deltafifo.Delta[T]{Object: event.Object, ResourceVersion: event.ResourceVersion, UIDHash: event.UIDHash}
	switch event.Type {
	case listwatch.Added:
		delta.Type = deltafifo.Added
	case listwatch.Modified:
		if event.Unchanged {
			return s.informer.queue.Unread(event.Key, event.UIDHash, event.ResourceVersion)
		}
		delta.Type = deltafifo.Updated
	case listwatch.Deleted:
		delta.Type, delta.FinalStateUnknown = deltafifo.Deleted, event.Unchanged
	case listwatch.Bookmark:
		return s.informer.queue.Bookmark(event.ResourceVersion)
	default:
		return fmt.Errorf("informer: no delta for a watch event of type %v", event.Type)
	}
	through := event.ResourceVersion
	if event.Unordered {
		through = ""
	}
	return s.informer.queue.Tell(event.Key, delta, through)
}

// known lets the queue see what the store has. Of the objects that an index function has
// refused it has at least the keys, so that their deletion is told.
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

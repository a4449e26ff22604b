package informer

import (
	"cmp"
	"slices"

	"github.com/kinform/kinform/deltafifo"
	"github.com/kinform/kinform/indexer"
	"github.com/kinform/kinform/listwatch"
	"k8s.io/apimachinery/pkg/types"
)

// change is what a batch means for one key: how the store is to be changed, if at
// all, and what handlers are to be told.
type change[T any] struct {
	op     indexer.Op[T]
	stored bool // there is an op
	events []Event[T]
}

// replay plays each stack of deltas on the entry that the store has, and appends what that
// means to changes. Nobody but the caller writes to the store. The queue, which knows the
// store, has decided what the deltas are: see deltafifo's decide. Here they only
// become events, and those that tell nothing new are left out.
//
// plain/informer.go writes each delta to its store, and tells it, before it looks at the next;
// a batch is one transaction here instead, for the reasons that consume has.
func (i *Informer[T]) replay(batch deltafifo.Batch[T], changes []change[T]) []change[T] {
	changes = slices.Grow(changes, len(batch.Stacks))
	events := make([]Event[T], 0, len(batch.Stacks)) // of all changes, one after another
	for _, stack := range batch.Stacks {
		first := len(events)
		before, existed := i.store.Entry(stack.Key)
		var c change[T]
		current, exists := before, existed
		for _, delta := range stack.Deltas {
			if exists && listwatch.OtherUID(current.UIDHash, delta.UIDHash) {
				events = append(events, replaced(current, stack.Key, delta))
				c.stored, exists = true, false
			}
			event, changed := next(current, exists, stack.Key, delta, batch.Initial && !existed && len(events) == first)
			if !changed {
				continue
			}
			events = append(events, event)
			c.stored = c.stored || event.Cause != Resync
			exists = event.Type != Deleted
			current.Object, current.ResourceVersion, current.UIDHash = event.New, event.ResourceVersion, event.UIDHash
		}
		c.events = events[first:]
		c.stored = c.stored && (exists || existed)
		c.op = indexer.Op[T]{Key: stack.Key, Object: current.Object, ResourceVersion: current.ResourceVersion, UIDHash: current.UIDHash, Delete: !exists}
		if len(c.events) > 0 {
			changes = append(changes, c)
		}
	}
	return changes
}

// replaced is the deletion of the current object, which nobody saw: delta is about an
// object of the same name and another UID.
func replaced[T any](current indexer.Entry[T], key types.NamespacedName, delta deltafifo.Delta[T]) Event[T] {
	gone := Event[T]{
		Type: Deleted, Cause: Watch, Key: key, FinalStateUnknown: true,
		ResourceVersion: current.ResourceVersion, Old: current.Object, New: current.Object, UIDHash: current.UIDHash,
	}
	if delta.Type == deltafifo.Replaced {
		gone.Cause = Relist
	}
	return gone
}

// next is the event that a delta means for a key whose state so far is current,
// or false where the delta changes nothing. initial says that the event would be the first
// one of its key, and come from the first list.
//
// Nothing is told twice (D11): an object that a relist or a repeated watch event brings in
// the version that is known makes no event, and neither does the deletion of an object that
// is not there. An object without a version is always taken for changed, and so is one of a
// server that has another history: its version says nothing about the object that was known.
func next[T any](current indexer.Entry[T], exists bool, key types.NamespacedName, delta deltafifo.Delta[T], initial bool) (Event[T], bool) {
	event := Event[T]{
		Cause:           Watch,
		Key:             key,
		ResourceVersion: delta.ResourceVersion,
		New:             delta.Object,
		UIDHash:         delta.UIDHash,
	}
	if exists {
		event.Old = current.Object
		event.UIDHash = cmp.Or(delta.UIDHash, current.UIDHash)
	}
	switch delta.Type {
	case deltafifo.Deleted:
		event.Type = Deleted
		event.FinalStateUnknown = delta.FinalStateUnknown
		if delta.FinalStateUnknown {
			if delta.ResourceVersion == current.ResourceVersion { // A deletion that was seen has one of its own.
				event.Cause = Relist
			}
			event.New, event.ResourceVersion = current.Object, current.ResourceVersion
		}
		return event, exists
	case deltafifo.Sync:
		event.Type, event.Cause = Updated, Resync
		event.New, event.ResourceVersion = current.Object, current.ResourceVersion
		return event, exists
	case deltafifo.Replaced:
		event.Cause = Relist
		if initial {
			event.Cause = Initial
		}
	}
	if !exists {
		event.Type = Added
		return event, true
	}
	event.Type, event.Restored = Updated, delta.Restored
	return event, delta.Restored || delta.ResourceVersion == "" || delta.ResourceVersion != current.ResourceVersion
}

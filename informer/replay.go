package informer

import (
	"cmp"
	"reflect"
	"slices"

	"github.com/kinform/kinform/deltafifo"
	"github.com/kinform/kinform/indexer"
	"github.com/kinform/kinform/listwatch"
	"k8s.io/apimachinery/pkg/types"
)

// change is the effect of a batch on one key: the operation on the store, if any, and the events
// for handlers.
type change[T any] struct {
	op     indexer.Op[T]
	stored bool // there is an op
	events []Event[T]
}

// eventsOf applies each stack of deltas to the stored entry, and appends the effects to changes.
// Only the caller writes to the store. The queue has compared each delta with the store and has
// chosen its type: see decide in package deltafifo. eventsOf only converts deltas to events, and
// leaves out events that report nothing new.
//
// plain/informer.go stores each delta and notifies handlers before it takes the next one. Here a
// batch is one transaction, for the reasons given at consume.
func (i *Informer[T]) eventsOf(batch deltafifo.Batch[T], changes []change[T]) []change[T] {
	changes = slices.Grow(changes, len(batch.Stacks))
	events := make([]Event[T], 0, len(batch.Stacks)) // of all changes, in order
	for _, stack := range batch.Stacks {
		first := len(events)
		before, existed := i.store.Entry(stack.Key)
		var c change[T]
		current, exists := before, existed
		for _, delta := range stack.Deltas {
			if exists && listwatch.OtherUID(current.UIDHash, delta.UIDHash) {
				events = append(events, unreportedDelete(current, stack.Key, delta))
				c.stored, exists = true, false
			}
			event, changed := eventFor(current, exists, stack.Key, delta, batch.Initial && !existed && len(events) == first)
			if !changed && !i.changedInPlace(current, stack.Key, delta) {
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

// changedInPlace reports whether a watch event has the known version but a different object. It is
// called if eventFor returned false. Some aggregated API servers never change the version of an
// object. Other servers rarely repeat a version, so the comparison is rare.
func (i *Informer[T]) changedInPlace(current indexer.Entry[T], key types.NamespacedName, delta deltafifo.Delta[T]) bool {
	isChange := delta.Type == deltafifo.Added || delta.Type == deltafifo.Updated
	if !isChange || reflect.DeepEqual(current.Object, delta.Object) {
		return false
	}
	if !i.inPlaceLogged {
		i.inPlaceLogged = true
		i.opts.Logger.Warn("The server changed an object without changing its version: lists don't show such changes",
			"informer", i.opts.Name, "key", key, "version", delta.ResourceVersion)
	}
	return true
}

// unreportedDelete returns the Deleted of the current object. No event reported the deletion: delta
// has an object of the same name with another UID.
func unreportedDelete[T any](current indexer.Entry[T], key types.NamespacedName, delta deltafifo.Delta[T]) Event[T] {
	gone := Event[T]{
		Type: Deleted, Cause: Watch, Key: key, FinalStateUnknown: true,
		ResourceVersion: current.ResourceVersion, Old: current.Object, New: current.Object, UIDHash: current.UIDHash,
	}
	if delta.Type == deltafifo.Replaced {
		gone.Cause = Relist
	}
	return gone
}

// eventFor returns the event for a delta, given the current state of its key, or false if the delta
// changes nothing. initial says that the event would be the first of its key, from the first list.
//
// Nothing is reported twice (D11). A relist or a repeated watch event with the known version makes
// no event, and neither does the deletion of a missing object; but see changedInPlace. Two kinds of
// objects always count as changed: objects without a version, and objects of a server with another
// history, because their version says nothing about the known object.
func eventFor[T any](current indexer.Entry[T], exists bool, key types.NamespacedName, delta deltafifo.Delta[T], initial bool) (Event[T], bool) {
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
			if delta.ResourceVersion == current.ResourceVersion {
				// A DELETED event has a newer version, so a relist detected this deletion.
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

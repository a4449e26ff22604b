package informer

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"
)

// Event reports a change of one object to a handler. On a resync it reports an unchanged object.
type Event[T any] struct {
	Type  EventType
	Cause Cause

	// FinalStateUnknown is set on a Deleted if the last state before the deletion is unknown.
	// Either a relist no longer had the key, or the object could not be decoded, or an object with
	// another UID now has the key. In the last case an Added follows. New is the state that was in
	// the store, and may be older than the object's last state. The field corresponds to
	// client-go's DeletedFinalStateUnknown.
	FinalStateUnknown bool

	// Restored is set on an Updated from another history of the server, for instance after a
	// restore from a backup. New is then not a successor of Old. A higher or equal version or
	// generation does not mean that New is newer or unchanged. The flag survives when the event is
	// merged with later events.
	Restored bool

	// Key is the object's namespace and name.
	Key types.NamespacedName

	// ResourceVersion is the version of New, as the server wrote it.
	ResourceVersion string

	// Old is the state that the handler last received for this key, the zero T for Added.
	Old T

	// New is the object as it is now. For Deleted it is the last known state, so it is never the
	// zero T. The store has the same object, so it is read-only.
	New T

	// UIDHash identifies the object New among all objects of this name, see listwatch.Item. It is 0
	// if unknown.
	UIDHash uint64
}

// EventType is the kind of change. The zero value is not a valid type.
type EventType uint8

// The kinds describe the change of the store, not the type of the watch event. An ADDED for a
// stored key is an Updated (contract PD-2), if the UIDs match or one of the objects has none. An
// object that was deleted and created again is always Deleted and then Added.
const (
	Added EventType = iota + 1
	Updated
	Deleted
)

// String returns "Added", "Updated" or "Deleted".
func (t EventType) String() string {
	switch t {
	case Added:
		return "Added"
	case Updated:
		return "Updated"
	case Deleted:
		return "Deleted"
	default:
		return fmt.Sprintf("EventType(%d)", uint8(t))
	}
}

// Cause says why a handler receives an event. The zero value is not a valid cause.
type Cause uint8

const (
	// Initial is the cause for an object that existed when the informer, or the handler, started.
	Initial Cause = iota + 1
	// Watch is a change that the server reported.
	Watch
	// Relist is a change that the informer found by listing again. Objects that a
	// relist finds unchanged cause no event.
	Relist
	// Resync is not a change: HandlerOptions.Resync or Registration.Resync requested an event for
	// every object. Old and New are the same.
	Resync
)

// String returns the cause in lower case.
func (c Cause) String() string {
	switch c {
	case Initial:
		return "initial"
	case Watch:
		return "watch"
	case Relist:
		return "relist"
	case Resync:
		return "resync"
	default:
		return fmt.Sprintf("Cause(%d)", uint8(c))
	}
}

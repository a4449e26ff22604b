package informer

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"
)

// Event tells a handler that one object changed, or, on a resync, that it is
// still there.
type Event[T any] struct {
	Type  EventType
	Cause Cause

	// FinalStateUnknown is set on a Deleted whose last state nobody saw: a relist no
	// longer had the key, the object could not be read, or another object has the key by
	// now, with another UID, which then is Added. New is the state that was stored, and
	// the object may have changed since.
	// client-go's DeletedFinalStateUnknown, as a field.
	FinalStateUnknown bool

	// Restored is set on an Updated that comes of another history of the server, as after
	// it was restored from a backup: what it has under this name was not made of Old, so
	// that version and generation, be they higher or the same, say nothing about what is
	// different. Events that were merged into it keep it.
	Restored bool

	// Key is the object's namespace and name.
	Key types.NamespacedName

	// ResourceVersion is the version of New, as the server wrote it.
	ResourceVersion string

	// Old is what the handler was told last about this key, the zero T for Added.
	Old T

	// New is the object as it is now. For Deleted it is the last state that is
	// known, and so is always safe to use. Shared with the store: read-only.
	New T

	// UIDHash says which object of this name New is, see listwatch.Item; 0 where that
	// is not known.
	UIDHash uint64
}

// EventType says what became of the object. The zero value is no valid type.
type EventType uint8

// The three things that can become of an object, as the store sees it: a watch's
// ADDED for a key that is stored already is an Updated (contract PD-2), if it is the
// same object by its UID, or one of them has none. An object that was deleted and
// created again is Deleted and then Added, however that was noticed.
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

// Cause says why a handler is told now. The zero value is no valid cause.
type Cause uint8

const (
	// Initial is an object that existed when the informer, or the handler,
	// started.
	Initial Cause = iota + 1
	// Watch is a change that the server reported.
	Watch
	// Relist is a change that the informer found by listing again. Objects that a
	// relist finds unchanged cause no event.
	Relist
	// Resync is no change: the handler asked to be told of every object again from
	// time to time. Old and New are the same.
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

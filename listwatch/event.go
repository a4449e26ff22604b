package listwatch

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"
)

// Item is one object with its identity and version. The receiver owns it. The stream and other
// items do not use its memory, with one exception: objects may share parts that nobody may change;
// see Shared.
type Item[T any] struct {
	// Key is the object's namespace and name; the namespace of a cluster-scoped
	// object is "".
	Key types.NamespacedName

	// Object is the decoded object, or the zero T if Unchanged is set.
	Object T

	// ResourceVersion is the version of the object, as the server sent it.
	ResourceVersion string

	// UIDHash is [HashUID] of the object's UID, or 0 if the UID is not known. It distinguishes an
	// object from an earlier, deleted object with the same key.
	UIDHash uint64

	// Shared is true if the object may share parts with other objects, so that nobody may change it
	// in place. A transform gets a copy of a shared object.
	Shared bool

	// Unchanged is true if the object was not decoded, because Known returned true for
	// this key and version.
	Unchanged bool
}

// Event is one event of a watch: a change of an object, or a bookmark.
type Event[T any] struct {
	Type EventType

	// Item is the object after the change. For Deleted it is the object's last state, with the
	// version of the deletion. A Bookmark has only a ResourceVersion.
	Item[T]

	// InitialEventsEnd marks the bookmark that ends the initial events of a
	// streaming list.
	InitialEventsEnd bool

	// Unordered is true if later events may have lower versions, because the watch combines several
	// watches. Then only a Bookmark shows through which version the watch is complete. A Bookmark
	// is never Unordered.
	Unordered bool
}

// EventType is the kind of an [Event]. The zero value is not a valid type.
type EventType uint8

// These are the types of events that a watch reports. Errors are not events: Next returns them.
const (
	Added EventType = iota + 1
	Modified
	Deleted
	// Bookmark means that the server has sent everything up to its ResourceVersion. It has no
	// object.
	Bookmark
)

// String returns the type as Kubernetes writes it on the wire, "ADDED" and so on.
func (t EventType) String() string {
	switch t {
	case Added:
		return "ADDED"
	case Modified:
		return "MODIFIED"
	case Deleted:
		return "DELETED"
	case Bookmark:
		return "BOOKMARK"
	default:
		return fmt.Sprintf("EventType(%d)", uint8(t))
	}
}

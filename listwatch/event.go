package listwatch

import "fmt"

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

package listwatch

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
)

// ErrListTooLarge is wrapped by the error with which a list, or the initial events of
// a streaming list, ends because it has more bytes than the Source is to take of one.
// The next attempt costs as much, and will as a rule end in the same way.
var ErrListTooLarge = errors.New("list too large")

// ErrUnusable is wrapped by the errors of a Source that can never work, because of how it
// was made, such as for a type that it cannot read: it asks no server, and nothing but
// another program mends it.
var ErrUnusable = errors.New("unusable")

// ObjectError reports one object that could not be read from a stream. The
// stream is intact and its next item follows: skip the object, report it, go on.
//
// What is known of the object is set, the rest is empty: an object may be
// broken so badly that it does not even have a name.
type ObjectError struct {
	Key             types.NamespacedName
	ResourceVersion string
	UIDHash         uint64 // see Item

	// Type is the type of the watch event that carried the object, 0 in a list.
	Type EventType

	Err error
}

// maxShown bounds what a message shows of a name that somebody else chose. Those of
// Kubernetes have up to 253 characters, with the namespace 317.
const maxShown = 512

// Error names the object, where it is known, and the reason.
func (e *ObjectError) Error() string {
	name := e.Key.Name
	switch {
	case name == "":
		name = "an object without a readable name"
	case e.Key.Namespace != "":
		name = "object " + e.Key.String()
	default:
		name = "object " + name
	}
	if len(name) > maxShown {
		name = name[:maxShown] + "..."
	}
	return fmt.Sprintf("%s could not be read: %v", name, e.Err)
}

// Unwrap returns the reason.
func (e *ObjectError) Unwrap() error { return e.Err }

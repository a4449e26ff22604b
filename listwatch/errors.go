package listwatch

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
)

// ErrListTooLarge is wrapped by the error of a list that has more bytes than the Source accepts.
// The initial events of a streaming list count as a list. A retry costs the server as much work,
// and usually fails in the same way.
var ErrListTooLarge = errors.New("list too large")

// ErrUnusable is wrapped by the errors of a Source that can never work, for example because it
// cannot decode its type. Such a Source sends no request. Only a change of the program helps.
var ErrUnusable = errors.New("unusable")

// ObjectError reports one undecodable object of a stream. The stream is intact: the caller may
// report the object, and then call Next again. The fields that could be read are set, and all other
// fields are empty. Even the name of an object may be undecodable.
type ObjectError struct {
	Key             types.NamespacedName
	ResourceVersion string
	UIDHash         uint64 // see Item

	// Type is the type of the watch event that carried the object, 0 in a list.
	Type EventType

	Err error
}

// maxShown limits the bytes of a name in a message, because the name may be any text. Kubernetes
// names have up to 253 characters, or 317 together with the namespace.
const maxShown = 512

// Error names the object, if its name is known, and the reason.
func (e *ObjectError) Error() string {
	if e == nil {
		return "<nil>"
	}
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
func (e *ObjectError) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.Err
}

package rest

import (
	"errors"
	"fmt"
	"net/http"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/rest/internal/decode"
	"github.com/kinform/kinform/rest/internal/wire"
)

// Projection removes parts of encoded objects. [Omit] implements it. It is an interface, so that a
// program without a projection does not link the code.
type Projection interface {
	// remover returns a function for objects of type t that removes parts from an encoded object,
	// in place.
	remover(t reflect.Type) func(e wire.Encoding, object []byte) []byte
	// omitted describes, in words, the parts that a server would delete if an object without them
	// were sent back. It returns "" if there are none.
	omitted() string
}

// ErrProjected is wrapped by errors about an object that must not be sent back. The object may lack
// parts, which the server would then delete.
var ErrProjected = errors.New("an update would delete these parts")

// Omit names parts that lists and watches remove from the bytes of an object before they decode it.
// So a cache without these parts saves the time and the memory for them. The zero value removes
// nothing.
//
// An object with missing parts must not be sent back in an Update: the server would delete these
// parts. Patch the object, or get it first. A Resource with an Omit refuses Update, UpdateStatus
// and ServerSideApply ([ErrProjected]) of an object from a server, which has a UID or a version.
// The Resource also refuses an object from Get, although it is complete: for Get and Update use
// another Resource, without Project. With an Omit of only managedFields, the Resource refuses
// nothing, because a server keeps managedFields if an update lacks them.
type Omit struct {
	// ManagedFields removes metadata.managedFields. managedFields are about a third of many
	// objects, and only programs that compute patches for server-side apply use them.
	ManagedFields bool

	// Annotations are the keys of annotations to remove, such as
	// "kubectl.kubernetes.io/last-applied-configuration".
	Annotations []string

	// Status removes the status.
	Status bool

	// AllButMetadata keeps only metadata, kind and apiVersion. If T is
	// *metav1.PartialObjectMetadata, the server itself sends only these, which saves network
	// traffic as well.
	AllButMetadata bool
}

// remover implements [Projection].
func (d Omit) remover(t reflect.Type) func(e wire.Encoding, object []byte) []byte {
	return decode.Omission(d).Remover(t)
}

// omitted implements [Projection].
func (d Omit) omitted() string {
	switch {
	case d.AllButMetadata:
		return "all but metadata"
	case d.Status && len(d.Annotations) > 0:
		return "the status and annotations"
	case d.Status:
		return "the status"
	case len(d.Annotations) > 0:
		return "annotations"
	}
	return ""
}

// checkComplete returns ErrProjected for an object that comes from a server and may lack parts.
func (r *Resource[T]) checkComplete(method string, o metav1.Object) error {
	omitted := ""
	switch {
	case r.partial && method != http.MethodPatch:
		omitted = "all but metadata"
	case r.opts.Project != nil && (o.GetUID() != "" || o.GetResourceVersion() != ""):
		omitted = r.opts.Project.omitted()
	}
	if omitted == "" {
		return nil
	}
	return fmt.Errorf("rest: %s %s %s/%s: lists and watches of this Resource leave out %s, and %w: send a Patch, or use Get and Update of a Resource without Project",
		method, r.gvr.Resource, o.GetNamespace(), o.GetName(), omitted, ErrProjected)
}

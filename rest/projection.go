package rest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/rest/internal/wire"
)

// Projection removes parts of encoded objects. [Omit] implements it. It is an interface, so that a
// program without a projection does not link the code.
type Projection interface {
	// projector returns a function for objects of type t that removes parts from an encoded object,
	// in place.
	projector(t reflect.Type) func(e Encoding, object []byte) []byte
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

// These are the numbers of protobuf fields that all objects share.
const (
	fieldMetadata      = 1
	fieldAnnotations   = 12 // in metadata
	fieldManagedFields = 17 // in metadata
	fieldMapKey        = 1  // in an entry of a map
)

// projector implements [Projection].
func (d Omit) projector(t reflect.Type) func(e Encoding, object []byte) []byte {
	d.Annotations = slices.Clone(d.Annotations)
	status := statusNumber(t)
	return func(e Encoding, object []byte) []byte {
		if e == Protobuf {
			return d.protobuf(object, status)
		}
		return d.json(object)
	}
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

// statusNumber returns the protobuf number of the field Status of t, or 0 if t has no such field.
func statusNumber(t reflect.Type) uint64 {
	if t.Kind() != reflect.Pointer || t.Elem().Kind() != reflect.Struct {
		return 0
	}
	field, _ := t.Elem().FieldByName("Status")
	parts := strings.Split(field.Tag.Get("protobuf"), ",")
	if len(parts) < 2 {
		return 0
	}
	number, _ := strconv.ParseUint(parts[1], 10, 32)
	return number
}

// protobuf removes fields from an encoded object.
func (d *Omit) protobuf(object []byte, status uint64) []byte {
	return rewrite(object, func(h wire.Header, value []byte) ([]byte, bool) {
		switch {
		case h.Field == fieldMetadata && h.Type == wire.TypeBytes:
			return rewrite(value, d.metadataField), true
		case d.AllButMetadata, d.Status && h.Field == status:
			return nil, false
		}
		return value, true
	})
}

// metadataField is the function edit of rewrite for the fields of metadata.
func (d *Omit) metadataField(h wire.Header, value []byte) ([]byte, bool) {
	switch {
	case h.Field == fieldManagedFields && d.ManagedFields:
		return nil, false
	case h.Field == fieldAnnotations && len(d.Annotations) > 0:
		key, _, err := wire.BytesField(value, fieldMapKey, false)
		return value, err != nil || !slices.Contains(d.Annotations, string(key))
	}
	return value, true
}

// rewrite changes a message in place. For each field, the function edit returns the new contents,
// which must be a part of the given value, and whether the field stays. rewrite leaves a malformed
// message as it is, and the decoder then refuses it.
func rewrite(message []byte, edit func(h wire.Header, value []byte) ([]byte, bool)) []byte {
	written := 0
	for rest := message; len(rest) > 0; {
		h, value, next, err := wire.NextField(rest, false)
		if err != nil {
			written += copy(message[written:], rest)
			break
		}
		if kept, ok := edit(h, value); ok {
			head := message[written : written+copy(message[written:], rest[:h.Size])]
			if len(kept) < len(value) {
				setLength(head, uint64(len(kept)))
			}
			written += len(head)
			written += copy(message[written:], kept)
		}
		rest = next
	}
	return message[:written]
}

// setLength overwrites the length at the end of a field's header with a smaller length. The new
// length has the same number of bytes, because a varint may be padded with zeros.
func setLength(head []byte, length uint64) {
	_, at := binary.Uvarint(head)
	for ; at < len(head)-1; at++ {
		head[at] = byte(length) | 0x80
		length >>= 7
	}
	head[at] = byte(length)
}

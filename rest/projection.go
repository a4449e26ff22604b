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

// Projection removes parts of encoded objects. [Omit] is one.
//
// It is an interface so that a program without a projection has no code for it.
type Projection interface {
	// projector returns the function that changes the encoding of an object, in
	// place, for objects of this type.
	projector(t reflect.Type) func(e Encoding, object []byte) []byte
	// missed is what an object lacks that a server would delete if it were sent back,
	// in words, "" for nothing.
	missed() string
}

// ErrProjected is wrapped by errors about an object that cannot be sent back, as parts
// of it may be missing that the server would delete.
var ErrProjected = errors.New("the server would delete what is missing in it")

// Omit is what lists and watches remove from the bytes of an object before it is
// decoded, so that it costs neither time nor memory: a cache that ignores the fields
// of others need not have them. The zero value removes nothing.
//
// Such an object must not be sent back in an Update, which would remove on the
// server what is missing here; patch it, or get it first. So a Resource with an Omit
// refuses Update, UpdateStatus and ServerSideApply of an object that comes from a server,
// which is told by its UID and version ([ErrProjected]), unless it drops nothing but
// managedFields, which a server keeps where an update has none. What Get answered is
// whole, but cannot be told from the others: have another Resource, without Project, for
// Get and Update.
type Omit struct {
	// ManagedFields removes metadata.managedFields, which is about a third of many
	// objects, and of use only to whoever computes patches for server-side apply.
	ManagedFields bool

	// Annotations are the keys of annotations to remove, such as
	// "kubectl.kubernetes.io/last-applied-configuration".
	Annotations []string

	// Status removes the status.
	Status bool

	// AllButMetadata keeps nothing but metadata, kind and apiVersion. Where the
	// server can do that, it also saves the network: have T be
	// *metav1.PartialObjectMetadata.
	AllButMetadata bool
}

// The numbers of fields in protobuf that all objects have in common.
const (
	fieldMetadata      = 1
	fieldAnnotations   = 12 // of metadata
	fieldManagedFields = 17 // of metadata
	fieldMapKey        = 1  // of an entry of a map
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

// missed implements [Projection].
func (d Omit) missed() string {
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

// whole refuses an object that comes from a list or a watch and may not have all that
// the server has.
func (r *Resource[T]) whole(method string, o metav1.Object) error {
	missed := ""
	switch {
	case r.partial && method != http.MethodPatch:
		missed = "all but metadata"
	case r.opts.Project != nil && (o.GetUID() != "" || o.GetResourceVersion() != ""):
		missed = r.opts.Project.missed()
	}
	if missed == "" {
		return nil
	}
	return fmt.Errorf("rest: %s %s %s/%s: lists and watches of this Resource leave out %s, and %w: send a Patch, or Get and Update through a Resource without Project",
		method, r.gvr.Resource, o.GetNamespace(), o.GetName(), missed, ErrProjected)
}

// statusNumber is the number of the field Status in protobuf, or 0.
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

// metadataField says what becomes of a field of metadata in protobuf.
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

// rewrite changes a message in place. edit is asked about each field: whether it
// stays, and with which contents, that must be part of value. What is malformed
// stays as it is, for the decoder to find.
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

// setLength replaces the length at the end of the header of a field by a smaller
// one, in as many bytes: protobuf allows zeros at the end of a number.
func setLength(head []byte, length uint64) {
	_, at := binary.Uvarint(head)
	for ; at < len(head)-1; at++ {
		head[at] = byte(length) | 0x80
		length >>= 7
	}
	head[at] = byte(length)
}

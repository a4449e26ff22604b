package decode

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kinform/kinform/rest/sharing"
)

// Tables has the sharing.Decoders of a client. All resources of the client use them. So the
// process has one bounded table, however many caches it has, and objects of two resources share
// owners, labels and managed fields. The table has no lock, so that concurrent use costs nothing.
//
// The first object of a list or a watch creates the table, so that a program that only calls verbs
// has none. The zero value is ready for use.
type Tables struct {
	sharedOnce sync.Once
	Sharing    *sharing.Decoder // nil until the first object may share parts

	unsharedOnce sync.Once
	unshared     *sharing.Decoder
}

// shared returns the Decoder for objects that may share parts.
func (t *Tables) shared() *sharing.Decoder {
	t.sharedOnce.Do(func() { t.Sharing = sharing.New(sharing.Options{}) })
	return t.Sharing
}

// Unshared returns the Decoder for objects that share nothing, such as objects of verbs.
func (t *Tables) Unshared() *sharing.Decoder {
	t.unsharedOnce.Do(func() { t.unshared = sharing.New(sharing.Options{MaxBytes: -1}) })
	return t.unshared
}

// DecodesTags reports whether a type can be decoded by the tags of its fields. All present types of
// k8s.io/api can be decoded in this way. For other types, the client requests JSON.
func (t *Tables) DecodesTags(typ reflect.Type) bool {
	return !errors.Is(t.Unshared().DecodeProtobuf(nil, reflect.New(typ).Interface(), nil), sharing.ErrType)
}

// IsGenerated reports whether the method Unmarshal of a type is generated from the tags of its
// fields. A sharing.Decoder follows the tags, so only for such a type its result equals the result
// of the method. Only the methods of built-in types are known to be generated.
func IsGenerated(t reflect.Type) bool {
	return strings.HasPrefix(t.PkgPath(), "k8s.io/api/") || t == reflect.TypeFor[metav1.PartialObjectMetadata]()
}

var (
	unstructuredType    = reflect.TypeFor[runtime.Unstructured]()
	jsonUnmarshalerType = reflect.TypeFor[json.Unmarshaler]()
)

// isSharedInJSON reports whether objects of a type share parts by default when they are decoded
// from JSON. Unstructured objects share parts, and so do structs without their own method
// UnmarshalJSON.
func isSharedInJSON(t reflect.Type) bool {
	if t.Implements(unstructuredType) {
		return true
	}
	return t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct && !t.Implements(jsonUnmarshalerType)
}

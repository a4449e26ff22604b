package rest

import (
	"cmp"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kinform/kinform/rest/sharing"
)

// Decoder decodes the objects of lists and watches. *[sharing.Decoder] is one. The client
// calls its methods from several goroutines at once. They must not keep data. If a method
// fails or panics, this one object becomes a [*listwatch.ObjectError].
//
// Options.MaxExpansion bounds the memory of a Decoder that matches the fields of T by
// their names, in any case, as encoding/json does. It does not bound the memory of other
// Decoders. Nor does the client bound the time that a Decoder takes for an extreme
// quantity; a sharing.Decoder takes next to none.
type Decoder interface {
	// DecodeProtobuf decodes a message into object, which points to a zero value. earlier
	// is nil, or an object of the same type that the caller of Watch holds under the same
	// key; see [listwatch.WatchOptions].Held, which informers set. The new object may
	// share the equal parts of earlier.
	DecodeProtobuf(data []byte, object, earlier any) error

	// DecodeJSON decodes JSON into object, which points to a zero value. That value is of
	// T's element type if T is a pointer, of T if it is not, and a map[string]any for
	// unstructured objects. The map of an item of a list has the apiVersion and the kind
	// that the list implies.
	DecodeJSON(data []byte, object any) error
}

var _ Decoder = (*sharing.Decoder)(nil)

// sharer has the Decoder of a Client. The first object of a list or a watch makes it, so
// that a program that only calls verbs has no table.
type sharer struct {
	once    sync.Once
	decoder *sharing.Decoder

	own   sync.Once
	owner *sharing.Decoder // for objects that share nothing, such as those of verbs
}

// clientDecoder decodes with the Decoder of a Client. All resources of the Client use the
// same one. So one bound on the table holds for the process, however many caches it has,
// and objects of two resources share owners, labels and managed fields. The table has no
// lock, so that concurrent use costs nothing.
type clientDecoder struct{ reading *reading }

func (d clientDecoder) get() *sharing.Decoder {
	s := &d.reading.sharing
	s.once.Do(func() { s.decoder = sharing.New(sharing.Options{}) })
	return s.decoder
}

// DecodeProtobuf implements [Decoder].
func (d clientDecoder) DecodeProtobuf(data []byte, object, earlier any) error {
	return d.get().DecodeProtobuf(data, object, earlier)
}

// DecodeJSON implements [Decoder].
func (d clientDecoder) DecodeJSON(data []byte, object any) error {
	return d.get().DecodeJSON(data, object)
}

// protobufOr calls DecodeProtobuf. For a type that d cannot decode it calls own: a later
// version of k8s.io/api may have such a type.
func protobufOr(d Decoder, own func(data []byte, object any) error) func(data []byte, object, earlier any) error {
	return func(data []byte, object, earlier any) error {
		err := d.DecodeProtobuf(data, object, earlier)
		if errors.Is(err, sharing.ErrType) {
			return own(data, object)
		}
		return err
	}
}

// jsonOr calls DecodeJSON. If that fails, it returns the error of own, which names the
// field that does not fit: a sharing.Decoder names only the byte.
func jsonOr(d Decoder, own func(data []byte, object any) error) func(data []byte, object any) error {
	return func(data []byte, object any) error {
		err := d.DecodeJSON(data, object)
		if err == nil {
			return nil
		}
		return cmp.Or(own(data, reflect.New(reflect.TypeOf(object).Elem()).Interface()), err)
	}
}

// isGenerated reports whether the method Unmarshal of a type is known to be generated
// from the tags of its fields. Only then does a sharing.Decoder, which goes by the tags,
// decode the same. It is known of built-in types only.
func isGenerated(t reflect.Type) bool {
	return strings.HasPrefix(t.PkgPath(), "k8s.io/api/") || t == reflect.TypeFor[metav1.PartialObjectMetadata]()
}

var (
	isUnstructured = reflect.TypeFor[runtime.Unstructured]()
	unmarshalsJSON = reflect.TypeFor[json.Unmarshaler]()
)

// isSharedInJSON reports whether objects of a type share parts by default when they come
// in JSON. Structs without an UnmarshalJSON of their own do, and unstructured objects.
func isSharedInJSON(t reflect.Type) bool {
	if t.Implements(isUnstructured) {
		return true
	}
	return t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct && !t.Implements(unmarshalsJSON)
}

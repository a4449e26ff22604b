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

// Decoder decodes the objects of lists and watches. *[sharing.Decoder] is one. Its
// methods are called from several goroutines at once, and must not keep data. An error,
// or a panic, is a [*listwatch.ObjectError] of that object alone.
//
// Options.MaxExpansion bounds what a Decoder makes that goes by the fields of T and their
// names, in any case, as encoding/json does. It does not know what another one makes, nor
// how long that takes for an extreme quantity; a sharing.Decoder takes no time for it.
type Decoder interface {
	// DecodeProtobuf decodes a message into object, which points to a zero value. earlier
	// is nil, or an object of the same type that the caller of Watch holds under the same
	// key ([listwatch.WatchOptions].Held, which informers provide): the new object may
	// share with it what is the same in both.
	DecodeProtobuf(data []byte, object, earlier any) error

	// DecodeJSON decodes JSON into object, which points to a zero value: of what T points
	// to, of T where that is no pointer, or of a map[string]any for unstructured objects.
	DecodeJSON(data []byte, object any) error
}

var _ Decoder = (*sharing.Decoder)(nil)

// sharer has the Decoder of a Client, which is made when the first object is decoded:
// who calls nothing but verbs needs no table.
type sharer struct {
	once    sync.Once
	decoder *sharing.Decoder

	own   sync.Once
	owner *sharing.Decoder // of objects that share nothing, as those of verbs
}

// clientDecoder decodes with the Decoder of a Client. There is one for all its resources,
// and not one for each: so the bound on the table is one of the process, however many
// caches it has, and what the objects of two resources have in common, such as owners,
// labels and managed fields, is in memory once. Concurrent use costs them nothing, as the
// table has no lock.
type clientDecoder struct{ client *Client }

func (d clientDecoder) get() *sharing.Decoder {
	s := &d.client.sharing
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

// protobufOr is DecodeProtobuf, and for a type that the Decoder does not know how to
// decode, own: a later version of k8s.io/api may have such a type.
func protobufOr(d Decoder, own func(data []byte, object any) error) func(data []byte, object, earlier any) error {
	return func(data []byte, object, earlier any) error {
		err := d.DecodeProtobuf(data, object, earlier)
		if errors.Is(err, sharing.ErrType) {
			return own(data, object)
		}
		return err
	}
}

// jsonOr is DecodeJSON with the errors of own: these name the field that does not fit, where
// a sharing.Decoder knows the byte.
func jsonOr(d Decoder, own func(data []byte, object any) error) func(data []byte, object any) error {
	return func(data []byte, object any) error {
		err := d.DecodeJSON(data, object)
		if err == nil {
			return nil
		}
		return cmp.Or(own(data, reflect.New(reflect.TypeOf(object).Elem()).Interface()), err)
	}
}

// isGenerated reports whether the method Unmarshal of a type is generated from the tags of
// its fields, by which a sharing.Decoder goes: of any type that is not built-in nobody
// knows that.
func isGenerated(t reflect.Type) bool {
	return strings.HasPrefix(t.PkgPath(), "k8s.io/api/") || t == reflect.TypeFor[metav1.PartialObjectMetadata]()
}

var (
	isUnstructured = reflect.TypeFor[runtime.Unstructured]()
	unmarshalsJSON = reflect.TypeFor[json.Unmarshaler]()
)

// isSharedInJSON reports whether objects of type T are shared by default, where they are
// in JSON: structs that do not decode themselves, and unstructured objects, whose maps are
// decoded.
func isSharedInJSON(t reflect.Type) bool {
	if t.Implements(isUnstructured) {
		return true
	}
	return t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct && !t.Implements(unmarshalsJSON)
}

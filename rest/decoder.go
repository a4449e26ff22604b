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

// Decoder decodes the objects of lists and watches. [sharing.Decoder] implements it. The client
// calls its methods from several goroutines at once. They must not keep data. If a method fails or
// panics, only this object becomes a [*listwatch.ObjectError].
//
// Options.MaxExpansion limits the memory of a Decoder that matches the fields of T by their names,
// in any case, as encoding/json does. It does not limit the memory of other Decoders. The client
// does not limit the time that a Decoder takes for an extreme quantity. A sharing.Decoder decodes
// extreme quantities at once.
type Decoder interface {
	// DecodeProtobuf decodes a message into object, which points to a zero value. earlier is nil,
	// or an object of the same type that the caller of Watch holds under the same key; see
	// [listwatch.WatchOptions].Held, which informers set. The new object may share equal parts of
	// earlier.
	DecodeProtobuf(data []byte, object, earlier any) error

	// DecodeJSON decodes JSON into object, which points to a zero value. If T is a pointer, the
	// value has T's element type; otherwise it has type T. For unstructured objects it is a
	// map[string]any. For an item of a list, the map already has the apiVersion and the kind that
	// the list implies.
	DecodeJSON(data []byte, object any) error
}

var _ Decoder = (*sharing.Decoder)(nil)

// lazyDecoders has the Decoder of a Client. The first object of a list or a watch creates the
// Decoder, so that a program that only calls verbs has no table of shared parts.
type lazyDecoders struct {
	sharedOnce sync.Once
	shared     *sharing.Decoder

	unsharedOnce sync.Once
	unshared     *sharing.Decoder // for objects that share nothing, such as objects of verbs
}

// clientDecoder decodes with the Decoder of a Client. All resources of the Client use the same
// Decoder. So the process has one bounded table, however many caches it has, and objects of two
// resources share owners, labels and managed fields. The table has no lock, so that concurrent use
// costs nothing.
type clientDecoder struct{ config *decodeConfig }

func (d clientDecoder) get() *sharing.Decoder {
	s := &d.config.decoders
	s.sharedOnce.Do(func() { s.shared = sharing.New(sharing.Options{}) })
	return s.shared
}

// DecodeProtobuf implements [Decoder].
func (d clientDecoder) DecodeProtobuf(data []byte, object, earlier any) error {
	return d.get().DecodeProtobuf(data, object, earlier)
}

// DecodeJSON implements [Decoder].
func (d clientDecoder) DecodeJSON(data []byte, object any) error {
	return d.get().DecodeJSON(data, object)
}

// protobufWithFallback returns a function that calls DecodeProtobuf. It calls fallback instead for
// a type that d cannot decode, such as a type of a later version of k8s.io/api.
func protobufWithFallback(d Decoder, fallback func(data []byte, object any) error) func(data []byte, object, earlier any) error {
	return func(data []byte, object, earlier any) error {
		err := d.DecodeProtobuf(data, object, earlier)
		if errors.Is(err, sharing.ErrType) {
			return fallback(data, object)
		}
		return err
	}
}

// jsonWithFallback returns a function that calls DecodeJSON. If DecodeJSON fails, the function
// calls fallback and returns its error. The error of fallback names the field that does not fit; a
// sharing.Decoder names only the position of the byte.
func jsonWithFallback(d Decoder, fallback func(data []byte, object any) error) func(data []byte, object any) error {
	return func(data []byte, object any) error {
		err := d.DecodeJSON(data, object)
		if err == nil {
			return nil
		}
		return cmp.Or(fallback(data, reflect.New(reflect.TypeOf(object).Elem()).Interface()), err)
	}
}

// isGenerated reports whether the method Unmarshal of a type is generated from the tags of its
// fields. A sharing.Decoder follows the tags, so only for such a type its result equals the result
// of the method. Only the methods of built-in types are known to be generated.
func isGenerated(t reflect.Type) bool {
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

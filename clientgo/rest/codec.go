package rest

import (
	"reflect"
	"strings"
	"unsafe"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	upstreamprotobuf "k8s.io/apimachinery/pkg/runtime/serializer/protobuf"

	"k8s.io/client-go/internal/protobuf"
	"k8s.io/client-go/internal/sink"

	kinform "github.com/kinform/kinform/rest"
)

// codec describes a program's decoder, so that kinform can decode in its place. There is no codec
// for a decoder that converts or sets defaults.
type codec struct {
	encoding kinform.Encoding
	// the decoder clears kind and apiVersion of decoded objects, but not of the items of a list
	versionless  bool
	clearsTarget bool // the decoder clears the target first
	// pointer type of the objects of a watch; nil if the object's kind selects the type
	object reflect.Type
}

// codecOf inspects a decoder. It recognizes decoders of apimachinery, of package dynamic, of
// package metadata and of controller-runtime. ok is false for any other decoder.
func codecOf(decoder runtime.Decoder) (c codec, ok bool) {
	for {
		switch d := decoder.(type) {
		case runtime.WithoutVersionDecoder:
			decoder, c.versionless = d.Decoder, true
		case *json.Serializer:
			c.encoding = kinform.JSON
			id := string(d.Identifier())
			return c, !strings.Contains(id, `"strict":"true"`) && !strings.Contains(id, `"yaml":"true"`)
		case *upstreamprotobuf.Serializer, *protobuf.Serializer:
			c.encoding = kinform.Protobuf
			return c, true
		case sink.Decoder:
			of := d.Sharing()
			decoder, c.object = of.Decoder, of.Object
		default:
			if decoder = unwrapDecoder(decoder, clearingPackage); decoder == nil {
				return c, false
			}
			c.clearsTarget = true
		}
	}
}

// The decoder of controller-runtime's typed clients, as of v0.25.2. It clears the target, then
// decodes with the decoder in its only field. Its type is not exported, so it is recognized by its
// name and its fields. A type with other fields is not recognized, and decodes lists itself.
const (
	clearingPackage = "sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	clearingName    = "targetZeroingDecoder"
	clearingField   = "upstream"
)

// unwrapDecoder returns the decoder that a decoder of controller-runtime wraps. It returns nil for
// any other decoder. path is the package path of the wrapper's type.
func unwrapDecoder(decoder runtime.Decoder, path string) runtime.Decoder {
	v := reflect.ValueOf(decoder)
	if !v.IsValid() || v.Kind() != reflect.Struct || v.Type().Name() != clearingName || v.Type().PkgPath() != path {
		return nil
	}
	if v.NumField() != 1 || v.Type().Field(0).Name != clearingField || v.Type().Field(0).Type != reflect.TypeFor[runtime.Decoder]() {
		return nil
	}
	// addressable, because reflection cannot read an unexported field
	readable := reflect.New(v.Type())
	readable.Elem().Set(v)
	return *(*runtime.Decoder)(unsafe.Pointer(readable.Elem().Field(0).UnsafeAddr()))
}

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

// codec is what is known of a program's decoder, if it decodes objects as they are: without conversion and without defaults. Only
// what such a decoder would do can be done in its place.
type codec struct {
	encoding    kinform.Encoding
	versionless bool         // it removes kind and apiVersion of what it decodes; items of a list keep theirs
	zeroing     bool         // it empties the target first
	object      reflect.Type // of the objects of a watch, a pointer; nil if the object's kind says it
}

// codecOf looks into a decoder. It knows those of apimachinery, of package dynamic, of package metadata and of controller-runtime.
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
			if decoder = upstream(decoder, zeroingPackage); decoder == nil {
				return c, false
			}
			c.zeroing = true
		}
	}
}

// The decoder of controller-runtime's typed clients. All that it does is to empty the target, and then to decode with the decoder in
// its only field, as of v0.25.2. Its type is not exported, so that its name is all there is to know it by. A type of another shape is
// not known, and its lists are decoded by it.
const (
	zeroingPackage = "sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	zeroingName    = "targetZeroingDecoder"
	zeroingField   = "upstream"
)

// upstream returns what a decoder of controller-runtime decodes with, or nil for any other. path is that of its package.
func upstream(decoder runtime.Decoder, path string) runtime.Decoder {
	v := reflect.ValueOf(decoder)
	if !v.IsValid() || v.Kind() != reflect.Struct || v.Type().Name() != zeroingName || v.Type().PkgPath() != path {
		return nil
	}
	if v.NumField() != 1 || v.Type().Field(0).Name != zeroingField || v.Type().Field(0).Type != reflect.TypeFor[runtime.Decoder]() {
		return nil
	}
	readable := reflect.New(v.Type()) // with an address, as reflection reads no field that is not exported
	readable.Elem().Set(v)
	return *(*runtime.Decoder)(unsafe.Pointer(readable.Elem().Field(0).UnsafeAddr()))
}

package rest

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"reflect"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"

	"github.com/kinform/kinform/listwatch"
	kinform "github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/rest/sharing"
)

// sharingVariable is the environment variable that says what objects of lists may share with each other: "constants", which is
// the default, "everything" or "nothing". README.md says what that means and what it costs.
const sharingVariable = "KINFORM_SHARING"

// decoding decodes all lists of the process, so that one table has what they share.
var decoding = sync.OnceValue(newDecoding)

type decoders struct {
	client  *kinform.Client // for its budgets: it sends no request
	decoder *sharing.Decoder
	readers sync.Map // of the type of objects, to *kinform.BodyReader
}

func newDecoding() *decoders {
	client, err := kinform.NewClient(kinform.Config{Host: "http://localhost"}, kinform.Options{})
	if err != nil {
		return nil // lists are decoded by the program's codecs
	}
	options := sharing.Options{Constants: true}
	switch os.Getenv(sharingVariable) {
	case "everything":
		options.Constants = false
	case "nothing":
		options.MaxBytes = -1
	}
	return &decoders{client: client, decoder: sharing.New(options)}
}

func (d *decoders) reader(object reflect.Type) *kinform.BodyReader {
	if r, ok := d.readers.Load(object); ok {
		return r.(*kinform.BodyReader)
	}
	r, err := kinform.NewBodyReader(d.client, object, kinform.ResourceOptions{Decoder: d.decoder})
	if err != nil {
		r = nil
	}
	d.readers.Store(object, r)
	return r
}

// plainDecoder returns the encoding that a decoder reads, if it is one of apimachinery's that decodes objects as they are: without
// conversion and without defaults. versionless says that it removes kind and apiVersion. Only what such a decoder would do can be
// done in its place.
func plainDecoder(decoder runtime.Decoder) (encoding kinform.Encoding, versionless, ok bool) {
	if inner, is := decoder.(runtime.WithoutVersionDecoder); is {
		decoder, versionless = inner.Decoder, true
	}
	switch d := decoder.(type) {
	case *json.Serializer:
		return kinform.JSON, versionless, !strings.Contains(string(d.Identifier()), `"strict":"true"`) && !strings.Contains(string(d.Identifier()), `"yaml":"true"`)
	case *protobuf.Serializer:
		return kinform.Protobuf, versionless, true
	}
	return 0, false, false
}

// intoList decodes a body into a list item by item, on several cores, with what objects may share. It reports whether it did; if
// not, the list is empty again, and the program's codec has to decode it. So whatever is odd about a body is for the codec.
func intoList(body []byte, contentType string, decoder runtime.Decoder, list runtime.Object) bool {
	encoding, versionless, ok := plainDecoder(decoder)
	if !ok || len(body) == 0 {
		return false
	}
	target := reflect.ValueOf(list)
	if target.Kind() != reflect.Pointer || target.IsNil() || target.Elem().Kind() != reflect.Struct || !target.Elem().IsZero() {
		return false
	}
	items := target.Elem().FieldByName("Items")
	if !items.IsValid() || items.Kind() != reflect.Slice || items.Type().Elem().Kind() != reflect.Struct {
		return false
	}
	object := reflect.PointerTo(items.Type().Elem())
	around, ok := envelopeOf(body, encoding)
	if !ok || around.kind != target.Elem().Type().Name() {
		return false
	}
	if !readItems(body, contentType, encoding, object, items) || !around.setMeta(list) {
		target.Elem().SetZero()
		return false
	}
	if !versionless {
		list.GetObjectKind().SetGroupVersionKind(schema.FromAPIVersionAndKind(around.apiVersion, around.kind))
	}
	return true
}

func readItems(body []byte, contentType string, encoding kinform.Encoding, object reflect.Type, items reflect.Value) bool {
	d := decoding()
	if d == nil {
		return false
	}
	reader := d.reader(object)
	if reader == nil || !reader.Reads(encoding) {
		return false
	}
	response := &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {contentType}}, Body: io.NopCloser(bytes.NewReader(body))}
	stream, err := reader.List(context.Background(), response, listwatch.ListOptions{})
	if err != nil {
		return false
	}
	defer func() { _ = stream.Close() }()
	all := reflect.MakeSlice(items.Type(), 0, 0)
	for {
		item, err := stream.Next()
		if err == io.EOF { //nolint:errorlint // that is the orderly end
			break
		}
		if err != nil {
			return false
		}
		all = reflect.Append(all, reflect.ValueOf(item.Object).Elem())
	}
	if all.Len() == 0 {
		return false // the codec knows whether that is an empty list or none
	}
	items.Set(all)
	return true
}

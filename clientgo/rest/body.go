package rest

import (
	"io"
	"os"
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
)

// Body sets the body: the contents of the file that a string names, bytes as they are, a reader, or an object, which is encoded.
// An object that is a nil pointer is no body. A request with a reader is sent only once.
func (r *Request) Body(obj interface{}) *Request {
	if r.err != nil {
		return r
	}
	switch body := obj.(type) {
	case string:
		data, err := os.ReadFile(body)
		if err != nil {
			r.err = err
			return r
		}
		r.setBytes(data)
	case []byte:
		r.setBytes(body)
	case io.Reader:
		r.body, r.bytes, r.repeat = body, nil, false
	case runtime.Object:
		if v := reflect.ValueOf(body); v.Kind() == reflect.Pointer && v.IsNil() {
			return r
		}
		encoder, err := r.content.Negotiator.Encoder(r.content.ContentType, nil)
		if err != nil {
			r.err = err
			return r
		}
		data, err := runtime.Encode(encoder, body)
		if err != nil {
			r.err = err
			return r
		}
		r.setBytes(data)
		r.SetHeader("Content-Type", r.content.ContentType)
	default:
		return r.fail("unknown type used for body: %+v", obj)
	}
	return r
}

func (r *Request) setBytes(data []byte) { r.body, r.bytes, r.repeat = nil, data, true }

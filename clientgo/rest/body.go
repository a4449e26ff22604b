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
		r.setEncoded(os.ReadFile(body))
	case []byte:
		r.setBytes(body)
	case io.Reader:
		r.body, r.bytes, r.repeat = body, nil, false
	case runtime.Object:
		if v := reflect.ValueOf(body); v.Kind() == reflect.Pointer && v.IsNil() {
			return r
		}
		r.setEncoded(r.encoded(body)).SetHeader("Content-Type", r.content.ContentType)
	default:
		return r.fail("unknown type used for body: %+v", obj)
	}
	return r
}

// encoded returns an object in the type of the request's bodies.
func (r *Request) encoded(obj runtime.Object) ([]byte, error) {
	encoder, err := r.content.Negotiator.Encoder(r.content.ContentType, nil)
	if err != nil {
		return nil, err
	}
	return runtime.Encode(encoder, obj)
}

// setEncoded sets the body, unless there is an error, which the request then has.
func (r *Request) setEncoded(data []byte, err error) *Request {
	if r.err = err; err == nil {
		r.setBytes(data)
	}
	return r
}

func (r *Request) setBytes(data []byte) { r.body, r.bytes, r.repeat = nil, data, data != nil }

package rest

import (
	"io"
	"os"
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
)

// Body sets the body. A string is the name of a file to send. Bytes and the content of a reader are
// sent unchanged, and an object is encoded. A nil pointer to an object means no body. A request
// whose body is a reader is not retried.
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
		r.body, r.bytes, r.replayable = body, nil, false
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

// encoded returns an object in the content type of the request.
func (r *Request) encoded(obj runtime.Object) ([]byte, error) {
	encoder, err := r.content.Negotiator.Encoder(r.content.ContentType, nil)
	if err != nil {
		return nil, err
	}
	return runtime.Encode(encoder, obj)
}

// setEncoded sets the body to data. If err is not nil, it becomes the request's error instead.
func (r *Request) setEncoded(data []byte, err error) *Request {
	if r.err = err; err == nil {
		r.setBytes(data)
	}
	return r
}

func (r *Request) setBytes(data []byte) { r.body, r.bytes, r.replayable = nil, data, data != nil }

package warmstart

import (
	"encoding/json"
	"fmt"
)

// Codec encodes and decodes objects. Decode gets bytes that Encode wrote, and must not keep them.
type Codec[T any] struct {
	// Name is written to the file. A file that a codec of another name wrote is not used.
	Name   string
	Encode func(T) ([]byte, error)
	Decode func([]byte) (T, error)
}

// Message is a pointer to a type of k8s.io/api, or another type with protobuf methods.
type Message[M any] interface {
	*M
	Marshal() ([]byte, error)
	Unmarshal([]byte) error
}

// Protobuf is the codec of built-in types: Protobuf[corev1.Pod]() encodes *corev1.Pod. Protobuf is
// much smaller and faster than JSON.
func Protobuf[M any, T Message[M]]() Codec[T] {
	return Codec[T]{
		Name:   "protobuf",
		Encode: func(object T) ([]byte, error) { return object.Marshal() },
		Decode: func(data []byte) (object T, err error) {
			defer func() { // Generated code panics on some malformed input.
				if p := recover(); p != nil {
					object, err = nil, fmt.Errorf("protobuf: panic while decoding: %v", p)
				}
			}()
			object = new(M)
			err = object.Unmarshal(data)
			return object, err
		},
	}
}

// JSON is the codec of all other types, including unstructured objects. Fields that the type's JSON
// leaves out are lost.
func JSON[T any]() Codec[T] {
	return Codec[T]{
		Name:   "json",
		Encode: func(object T) ([]byte, error) { return json.Marshal(object) },
		Decode: func(data []byte) (object T, err error) {
			err = json.Unmarshal(data, &object)
			return object, err
		},
	}
}

package warmstart

import (
	"encoding/json"
	"fmt"
)

// Codec turns objects into bytes and back. Decode gets bytes that Encode
// has written; it must not keep them.
type Codec[T any] struct {
	// Name is written to the file, and a file with another one is not used.
	Name   string
	Encode func(T) ([]byte, error)
	Decode func([]byte) (T, error)
}

// Message is a pointer to a type of k8s.io/api, or whatever else can encode itself
// in protobuf.
type Message[M any] interface {
	*M
	Marshal() ([]byte, error)
	Unmarshal([]byte) error
}

// Protobuf is the codec of built-in types: Protobuf[corev1.Pod]() encodes
// *corev1.Pod. It is smaller and faster than JSON by far.
func Protobuf[M any, T Message[M]]() Codec[T] {
	return Codec[T]{
		Name:   "protobuf",
		Encode: func(object T) ([]byte, error) { return object.Marshal() },
		Decode: func(data []byte) (object T, err error) {
			defer func() { // Generated code panics on some broken input.
				if p := recover(); p != nil {
					object, err = nil, fmt.Errorf("protobuf: %v", p)
				}
			}()
			object = new(M)
			err = object.Unmarshal(data)
			return object, err
		},
	}
}

// JSON is the codec of everything else, unstructured objects included. A type whose
// JSON leaves something out loses it.
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

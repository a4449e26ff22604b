package sink

import (
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
)

// Decoder is a decoder of this module that wraps one of apimachinery's. It describes itself, so
// that package rest can decode lists and watches in its place.
type Decoder interface {
	runtime.Decoder
	Sharing() Sharing
}

// Sharing describes a [Decoder].
type Sharing struct {
	Decoder runtime.Decoder // the wrapped decoder, which determines the encoding
	Object  reflect.Type    // pointer type of the objects; nil if their kind selects the type
}

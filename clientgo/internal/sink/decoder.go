package sink

import (
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
)

// Decoder is a decoder of a client of this module that wraps one of apimachinery's. It says what package rest has to know to
// decode lists and watches in its place.
type Decoder interface {
	runtime.Decoder
	Sharing() Sharing
}

// Sharing describes a [Decoder].
type Sharing struct {
	Decoder runtime.Decoder // the wrapped one, which says the encoding
	Object  reflect.Type    // of objects, a pointer; nil if their kind says it
}

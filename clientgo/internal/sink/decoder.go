package sink

import (
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
)

// Decoder is a decoder of this module that wraps a decoder of apimachinery. Its method Sharing
// describes it. With this description, package rest can decode lists and watches in its place.
type Decoder interface {
	runtime.Decoder
	Sharing() Sharing
}

// Sharing describes a [Decoder].
type Sharing struct {
	Decoder runtime.Decoder // the wrapped decoder; shows which encoding is used
	Object  reflect.Type    // pointer type of the objects; nil: an object's kind selects it
}

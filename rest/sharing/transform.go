package sharing

import (
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kinform/kinform/internal/reshare"
)

// Transform calls a function with a copy of an object of a Decoder. The function may change the
// copy in place. If the function returns the copy, Transform returns a new object that equals the
// copy, and leaves the copy unchanged. The new object has the unchanged parts of the first object,
// so that other objects still share these parts. If the function returns another value, Transform
// returns this value. A program must not use the first object afterwards.
//
// The type of object must be one for which [Copies] returns true.
func Transform(object runtime.Object, transform func(any) (any, error)) (any, error) {
	return reshare.Transform(object, transform)
}

// Copies reports whether the DeepCopyObject of a type certainly copies everything that a program
// can change. It returns true only for types of k8s.io/api and of k8s.io/apimachinery.
func Copies(t reflect.Type) bool { return reshare.Copies(t) }

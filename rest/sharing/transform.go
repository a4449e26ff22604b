package sharing

import (
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kinform/kinform/internal/rejoin"
)

// Transform calls a function with a copy of an object of a Decoder. The function may change the
// copy in place. If it returns the copy, Transform returns an equal object whose unchanged parts
// are parts of the first object, so that other objects still share them. The copy is not changed.
// If the function returns something else, Transform returns that. Nobody may use the first object
// afterwards.
//
// Transform is for types for which [Copies] returns true.
func Transform(object runtime.Object, transform func(any) (any, error)) (any, error) {
	return rejoin.Transform(object, transform)
}

// Copies reports whether the type of an object has a DeepCopyObject that copies everything that a
// program can change. Only the types of k8s.io/api and of k8s.io/apimachinery are known.
func Copies(t reflect.Type) bool { return rejoin.Copies(t) }

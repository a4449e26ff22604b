package sharing

import (
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kinform/kinform/internal/rejoin"
)

// Transform calls a function with a copy of an object of a Decoder. The function may change the
// copy in place. If it returns the copy, the copy takes over all parts of the object that it still
// has an equal of, so that it shares with other objects what the object shared with them. If the
// function returns something else, that stays as it is. Nobody may use the object afterwards.
//
// Transform is for types for which [Copies] is true.
func Transform(object runtime.Object, transform func(any) (any, error)) (any, error) {
	return rejoin.Transform(object, transform)
}

// Copies reports whether the type of an object has a DeepCopyObject that copies all that a program
// can change. It is known of the types of k8s.io/api and of k8s.io/apimachinery.
func Copies(t reflect.Type) bool { return rejoin.Copies(t) }

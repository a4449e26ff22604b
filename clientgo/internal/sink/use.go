package sink

import (
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kinform/kinform/rest/sharing"
)

// Use is the purpose of the objects of a list or a watch. It determines which parts the objects
// share.
type Use uint8

const (
	// Owned means that a caller, or a program's own store, owns the objects.
	Owned Use = iota

	// Cached is the cache of a shared informer. Its objects must not be changed, though some
	// programs do.
	Cached

	// Transformed is the cache of a shared informer with a transform. Objects that share parts come
	// as a [Shared].
	Transformed
)

// Shared is an object that shares parts with others. A transform must not change it, but may change
// a copy.
type Shared struct{ Object runtime.Object }

// Object returns the object inside a [Shared], or its argument if that is not a Shared.
func Object(object any) any {
	if shared, ok := object.(Shared); ok {
		return shared.Object
	}
	return object
}

// Transform calls a transform with an object, which may be a [Shared]. The transform gets a copy of
// a Shared. In the result, parts that the transform has not changed are shared again.
func Transform(object any, transform func(any) (any, error)) (any, error) {
	if shared, ok := object.(Shared); ok {
		return sharing.Transform(shared.Object, transform)
	}
	return transform(object)
}

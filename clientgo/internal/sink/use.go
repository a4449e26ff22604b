package sink

import (
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kinform/kinform/rest/sharing"
)

// Use is what becomes of the objects of a list or a watch. It decides what they may share with each other.
type Use uint8

const (
	// Kept is a caller or a store of the program's own, to whom the objects belong.
	Kept Use = iota

	// Cached is the cache of a shared informer, whose objects nobody may change, though some programs do.
	Cached

	// Transformed is the cache of a shared informer with a transform. Objects that share parts come as a [Shared].
	Transformed
)

// Shared is an object that has parts in common with others. A transform must not change it, but a copy of it.
type Shared struct{ Object runtime.Object }

// Object returns what a source has given to a reflector, without the Shared around it.
func Object(object any) any {
	if shared, ok := object.(Shared); ok {
		return shared.Object
	}
	return object
}

// Transform calls a transform for what a source has given to an informer. The result shares again what the transform has
// left as it was.
func Transform(object any, transform func(any) (any, error)) (any, error) {
	if shared, ok := object.(Shared); ok {
		return sharing.Transform(shared.Object, transform)
	}
	return transform(object)
}

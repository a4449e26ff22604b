// Package listers has the code that the listers of all built-in types share.
package listers

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
)

// ResourceIndexer reads objects of type T from a store, in one namespace or in all. Callers must
// not change the returned objects. It is safe for concurrent use.
type ResourceIndexer[T runtime.Object] struct {
	store     cache.Indexer
	resource  schema.GroupResource // for errors
	namespace string               // empty for all namespaces
}

// New returns a ResourceIndexer for all namespaces, or for a cluster-scoped type.
func New[T runtime.Object](indexer cache.Indexer, resource schema.GroupResource) ResourceIndexer[T] {
	return ResourceIndexer[T]{store: indexer, resource: resource}
}

// NewNamespaced returns a ResourceIndexer for one namespace.
func NewNamespaced[T runtime.Object](parent ResourceIndexer[T], namespace string) ResourceIndexer[T] {
	parent.namespace = namespace
	return parent
}

// List returns the matching objects, in no particular order.
func (l ResourceIndexer[T]) List(selector labels.Selector) (ret []T, err error) {
	err = cache.ListAllByNamespace(l.store, l.namespace, selector, func(object any) {
		ret = append(ret, object.(T))
	})
	return ret, err
}

// Get returns the object with the given name. The error is NotFound if there is no object with this
// name.
func (l ResourceIndexer[T]) Get(name string) (none T, err error) {
	key := name
	if l.namespace != "" {
		key = l.namespace + "/" + name
	}
	object, found, err := l.store.GetByKey(key)
	if err != nil {
		return none, err
	}
	if !found {
		return none, apierrors.NewNotFound(l.resource, name)
	}
	return object.(T), nil
}

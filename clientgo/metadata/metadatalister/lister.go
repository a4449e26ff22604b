// Package metadatalister has listers of the metadata of objects of any resource.
package metadatalister

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/listers"
	"k8s.io/client-go/tools/cache"
)

// Lister reads the metadata of objects from a store. Callers must not change the returned objects.
// It is safe for concurrent use.
type Lister interface {
	// List returns the matching objects of all namespaces, in no particular order.
	List(selector labels.Selector) (ret []*metav1.PartialObjectMetadata, err error)
	// Get returns the object with a key, which is a name or "namespace/name". The error is NotFound
	// if there is no object with this key.
	Get(name string) (*metav1.PartialObjectMetadata, error)
	// Namespace returns a lister for one namespace.
	Namespace(namespace string) NamespaceLister
}

// NamespaceLister is a Lister for one namespace.
type NamespaceLister interface {
	// List returns the matching objects of the namespace, in no particular order.
	List(selector labels.Selector) (ret []*metav1.PartialObjectMetadata, err error)
	// Get returns the object with the given name. The error is NotFound if there is no object with
	// this name.
	Get(name string) (*metav1.PartialObjectMetadata, error)
}

// lister implements Lister and NamespaceLister.
type lister struct {
	listers.ResourceIndexer[*metav1.PartialObjectMetadata]
}

// New returns a lister of a store. gvr is the resource named in errors.
func New(indexer cache.Indexer, gvr schema.GroupVersionResource) Lister {
	return lister{listers.New[*metav1.PartialObjectMetadata](indexer, gvr.GroupResource())}
}

// Namespace implements Lister.
func (l lister) Namespace(namespace string) NamespaceLister {
	return lister{listers.NewNamespaced(l.ResourceIndexer, namespace)}
}

// NewRuntimeObjectShim adapts a lister to cache.GenericLister.
func NewRuntimeObjectShim(lister Lister) cache.GenericLister {
	return generic{reader: lister, lister: lister}
}

// generic implements cache.GenericLister, and cache.GenericNamespaceLister if lister is nil.
type generic struct {
	reader NamespaceLister // the Lister or NamespaceLister to read
	lister Lister
}

// List implements cache.GenericLister.
func (g generic) List(selector labels.Selector) (ret []runtime.Object, err error) {
	found, err := g.reader.List(selector)
	if err != nil {
		return nil, err
	}
	ret = make([]runtime.Object, len(found))
	for i, object := range found {
		ret[i] = object
	}
	return ret, nil
}

// Get implements cache.GenericLister.
func (g generic) Get(name string) (runtime.Object, error) {
	object, err := g.reader.Get(name)
	if err != nil {
		return nil, err // avoids a nil pointer in the interface
	}
	return object, nil
}

// ByNamespace implements cache.GenericLister.
func (g generic) ByNamespace(namespace string) cache.GenericNamespaceLister {
	return generic{reader: g.lister.Namespace(namespace)}
}

package cache

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2"
)

// AppendFunc is called with each object of a list.
type AppendFunc func(interface{})

// ListAll calls appendFn with each object of the store that matches the selector. It reads the
// objects' metadata only if the selector is not empty. In this case an object without metadata is
// an error.
func ListAll(store Store, selector labels.Selector, appendFn AppendFunc) error {
	return appendMatching(store.List, selector, appendFn)
}

// ListAllByNamespace is ListAll for one namespace; "" means all. Without the index [NamespaceIndex]
// it scans all objects.
func ListAllByNamespace(indexer Indexer, namespace string, selector labels.Selector, appendFn AppendFunc) error {
	if namespace == metav1.NamespaceAll {
		return ListAll(indexer, selector, appendFn)
	}
	if selectsNothing(selector) {
		return nil
	}
	objs, err := indexer.Index(NamespaceIndex, &metav1.ObjectMeta{Namespace: namespace})
	if err == nil {
		return appendMatching(func() []interface{} { return objs }, selector, appendFn)
	}
	klog.Background().Info("Listing a namespace without its index is slow: add NamespaceIndex", "err", err)
	for _, obj := range indexer.List() {
		accessor, err := meta.Accessor(obj)
		if err != nil {
			return err
		}
		if accessor.GetNamespace() == namespace && selector.Matches(labels.Set(accessor.GetLabels())) {
			appendFn(obj)
		}
	}
	return nil
}

func selectsNothing(selector labels.Selector) bool {
	_, selectable := selector.Requirements()
	return !selectable
}

func appendMatching(list func() []interface{}, selector labels.Selector, appendFn AppendFunc) error {
	if selectsNothing(selector) {
		return nil
	}
	all := selector.Empty()
	for _, obj := range list() {
		if !all {
			accessor, err := meta.Accessor(obj)
			if err != nil {
				return err
			}
			if !selector.Matches(labels.Set(accessor.GetLabels())) {
				continue
			}
		}
		appendFn(obj)
	}
	return nil
}

// GenericLister reads a store of objects of one resource.
type GenericLister interface {
	// List returns the objects in all namespaces that match the selector.
	List(selector labels.Selector) (ret []runtime.Object, err error)
	// Get returns the object with this key. The error is NotFound if the object is absent.
	Get(name string) (runtime.Object, error)
	// ByNamespace returns a lister of one namespace.
	ByNamespace(namespace string) GenericNamespaceLister
}

// GenericNamespaceLister is a GenericLister of one namespace.
type GenericNamespaceLister interface {
	// List returns the objects in the namespace that match the selector.
	List(selector labels.Selector) (ret []runtime.Object, err error)
	// Get returns the object with this name. The error is NotFound if the object is absent.
	Get(name string) (runtime.Object, error)
}

// NewGenericLister returns a lister of the store's objects. Its errors name the resource.
func NewGenericLister(indexer Indexer, resource schema.GroupResource) GenericLister {
	return genericLister{indexer: indexer, resource: resource}
}

type genericLister struct {
	indexer  Indexer
	resource schema.GroupResource
}

func (l genericLister) List(selector labels.Selector) (ret []runtime.Object, err error) {
	err = ListAll(l.indexer, selector, func(obj interface{}) { ret = append(ret, obj.(runtime.Object)) })
	return ret, err
}

func (l genericLister) Get(name string) (runtime.Object, error) {
	return l.get(name, name)
}

func (l genericLister) get(key, name string) (runtime.Object, error) {
	obj, exists, err := l.indexer.GetByKey(key)
	if err != nil {
		return nil, err
	}
	if !exists {
		return nil, apierrors.NewNotFound(l.resource, name)
	}
	return obj.(runtime.Object), nil
}

func (l genericLister) ByNamespace(namespace string) GenericNamespaceLister {
	return genericNamespaceLister{genericLister: l, namespace: namespace}
}

type genericNamespaceLister struct {
	genericLister
	namespace string
}

func (l genericNamespaceLister) List(selector labels.Selector) (ret []runtime.Object, err error) {
	err = ListAllByNamespace(l.indexer, l.namespace, selector, func(obj interface{}) { ret = append(ret, obj.(runtime.Object)) })
	return ret, err
}

func (l genericNamespaceLister) Get(name string) (runtime.Object, error) {
	return l.get(l.namespace+"/"+name, name)
}

package indexer

import (
	"fmt"
	"iter"
	"reflect"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Lister reads a store like the listers of client-go: it lists by label selector, and Get returns
// an API error for "not found". It is a small value, safe for concurrent use.
type Lister[T any] struct {
	reader   *Reader[T]
	resource schema.GroupResource
	labels   func(T) labels.Set
}

// NewLister returns a Lister over a store. resource is the name in "not found" errors. labelsOf
// returns the labels of an object. If labelsOf is nil, the Lister uses the labels in the object's
// metadata.
//
// NewLister panics if labelsOf is nil and T is a type without metadata. If T is an interface, such
// as any, an object without metadata has no labels.
func NewLister[T any](reader *Reader[T], resource schema.GroupResource, labelsOf func(T) labels.Set) Lister[T] {
	if labelsOf == nil {
		t := reflect.TypeFor[T]()
		if t.Kind() != reflect.Interface && !t.Implements(reflect.TypeFor[metav1.Object]()) {
			panic(fmt.Sprintf("indexer: %v has no metadata to take labels from: give NewLister a function that returns the labels", t))
		}
		labelsOf = metadataLabels
	}
	return Lister[T]{reader: reader, resource: resource, labels: labelsOf}
}

// metadataLabels returns the labels in the metadata of an object.
func metadataLabels[T any](object T) labels.Set {
	if object, ok := any(object).(metav1.Object); ok {
		return object.GetLabels()
	}
	return nil
}

// List iterates over the objects that match the selector, in no particular order. The loop sees the
// state of the store at its beginning. A nil selector matches all objects. With nil or
// labels.Everything(), List does not read labels; with labels.Nothing(), it reads no object.
func (l Lister[T]) List(selector labels.Selector) iter.Seq[T] {
	return l.selected(l.reader.All(), selector)
}

// Get returns the object with this name. The error satisfies
// [apierrors.IsNotFound].
func (l Lister[T]) Get(namespace, name string) (T, error) {
	object, ok := l.reader.Get(types.NamespacedName{Namespace: namespace, Name: name})
	if !ok {
		return object, apierrors.NewNotFound(l.resource, name)
	}
	return object, nil
}

// Namespace returns a Lister of the objects in one namespace.
func (l Lister[T]) Namespace(namespace string) NamespaceLister[T] {
	return NamespaceLister[T]{lister: l, namespace: namespace}
}

// NamespaceLister is a [Lister] of the objects in one namespace.
type NamespaceLister[T any] struct {
	lister    Lister[T]
	namespace string
}

// List is [Lister.List] in the namespace. The namespace "" means all objects, as for
// [Snapshot.Namespace].
func (l NamespaceLister[T]) List(selector labels.Selector) iter.Seq[T] {
	return l.lister.selected(l.lister.reader.Namespace(l.namespace), selector)
}

// Get is [Lister.Get] in the namespace.
func (l NamespaceLister[T]) Get(name string) (T, error) { return l.lister.Get(l.namespace, name) }

// selected filters an iterator: it yields the objects that match the selector.
func (l Lister[T]) selected(all iter.Seq2[types.NamespacedName, T], selector labels.Selector) iter.Seq[T] {
	everything := selector == nil || selector.Empty()
	if !everything {
		if _, selectable := selector.Requirements(); !selectable {
			return func(func(T) bool) {}
		}
	}
	return func(yield func(T) bool) {
		for _, object := range all {
			if (everything || selector.Matches(l.labels(object))) && !yield(object) {
				return
			}
		}
	}
}

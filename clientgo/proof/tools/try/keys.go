package main

import (
	"errors"
	"fmt"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"k8s.io/client-go/tools/cache"
)

// keyed returns the arguments with which key functions are called, by name.
func keyed() map[string]any {
	return map[string]any{
		"pod": pod, "node": node, "nil": nil, "nil pod": (*v1.Pod)(nil), "pod by value": *pod, "key": cache.ExplicitKey("x/y"), "string": "x/y", "number": 3, "list": &v1.PodList{}, "meta": &metav1.ObjectMeta{Name: "m", Namespace: "n"},
		"tombstone": cache.DeletedFinalStateUnknown{Key: "a/b", Obj: pod}, "tombstone of nothing": cache.DeletedFinalStateUnknown{Key: "c"}, "odd tombstone": cache.DeletedFinalStateUnknown{Key: "a/b/c", Obj: 3}, "pointer to a tombstone": &cache.DeletedFinalStateUnknown{Key: "a/b"},
		"partial": &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "p"}}, "unstructured": &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "u", "namespace": "v"}}}, "empty unstructured": &unstructured.Unstructured{},
		"name": cache.NewObjectName("x", "y"), "event": occurrenceOfNothing(), "deltas": cache.Deltas{{Type: cache.Added, Object: pod}}, "no deltas": cache.Deltas{},
	}
}

func occurrenceOfNothing() *v1.Event { return &v1.Event{} }

func tryKeys() {
	failing := errors.New("fails")
	functions := map[string]cache.KeyFunc{
		"MetaNamespaceKeyFunc": cache.MetaNamespaceKeyFunc, "DeletionHandlingMetaNamespaceKeyFunc": cache.DeletionHandlingMetaNamespaceKeyFunc,
		"adapter":             cache.IndexFuncToKeyFuncAdapter(cache.MetaNamespaceIndexFunc),
		"adapter of nothing":  cache.IndexFuncToKeyFuncAdapter(func(any) ([]string, error) { return nil, nil }),
		"adapter of two":      cache.IndexFuncToKeyFuncAdapter(func(any) ([]string, error) { return []string{"a", "b"}, nil }),
		"adapter of an error": cache.IndexFuncToKeyFuncAdapter(func(any) ([]string, error) { return []string{"a"}, failing }),
		"queue":               cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{}).KeyOf,
	}
	for name, object := range keyed() {
		try("keys: "+name, func(o *outcome) {
			for _, of := range []string{"MetaNamespaceKeyFunc", "DeletionHandlingMetaNamespaceKeyFunc", "adapter", "adapter of nothing", "adapter of two", "adapter of an error", "queue"} {
				o.panics(of, func() {
					key, err := functions[of](object)
					o.line(of, key, kindOf(err))
				})
			}
			o.panics("ObjectToName", func() {
				n, err := cache.ObjectToName(object)
				o.line("ObjectToName", n.Namespace, n.Name, kindOf(err))
			})
			o.panics("DeletionHandlingObjectToName", func() {
				n, err := cache.DeletionHandlingObjectToName(object)
				o.line("DeletionHandlingObjectToName", n.Namespace, n.Name, kindOf(err))
			})
			o.panics("index", func() {
				values, err := cache.MetaNamespaceIndexFunc(object)
				o.line("index", values, kindOf(err))
			})
		})
	}
	for _, key := range []string{"", "a", "a/b", "a/b/c", "/", "/a", "a/", "//", "a//b", " a/ b", "ä/ö"} {
		try(fmt.Sprintf("keys: parse %q", key), func(o *outcome) {
			namespace, name, err := cache.SplitMetaNamespaceKey(key)
			o.line(namespace, name, kindOf(err))
			n, err := cache.ParseObjectName(key)
			o.line(n.Namespace, n.Name, n, kindOf(err))
			o.line(n.String(), n.AsNamespacedName())
		})
	}
	try("keys: names", func(o *outcome) {
		n := cache.NewObjectName("x", "y")
		namespace, name := n.Parts()
		o.line(namespace, name, n, cache.MetaObjectToName(pod), cache.NamespacedNameAsObjectName(types.NamespacedName{Namespace: "a", Name: "b"}), text(n), fmt.Sprintf("%v %+v %#v", n, n, cache.ObjectName{Name: "z"}.String()))
	})
	try("keys: errors", func(o *outcome) {
		err := cache.KeyError{Obj: 3, Err: failing}
		o.line(kindOf(err), errors.Is(err, failing), cache.ErrZeroLengthDeltasObject, cache.ErrFIFOClosed)
	})
}

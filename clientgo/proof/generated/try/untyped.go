package main

import (
	"net/http"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
)

// tryUntyped calls each method of the dynamic client and of the metadata client.
func tryUntyped() {
	s := serve()
	defer s.Close()
	config := &rest.Config{Host: s.URL, QPS: -1, UserAgent: "try"}
	untyped, partial := dynamic.NewForConfigOrDie(config), metadata.NewForConfigOrDie(config)
	for _, gvr := range []schema.GroupVersionResource{{Version: "v1", Resource: "configmaps"}, {Group: "example.com", Version: "v2", Resource: "things"}, {Group: "example.com"}, {}} {
		for _, namespace := range []string{"", "ns"} {
			tryClient(s, "dynamic "+gvr.String()+" in "+namespace, reflect.ValueOf(untyped.Resource(gvr).Namespace(namespace)), dynamicAnswer)
			tryClient(s, "metadata "+gvr.String()+" in "+namespace, reflect.ValueOf(partial.Resource(gvr).Namespace(namespace)), metadataAnswer)
		}
	}
}

func tryClient(s *server, name string, client reflect.Value, answerTo func(reflect.Type) http.HandlerFunc) {
	for i := range client.NumMethod() {
		method := client.Type().Method(i)
		if method.Name == "Namespace" {
			continue
		}
		for variant, argument := range map[string]func(reflect.Type) reflect.Value{"full": argumentOfUntyped, "nothing": empty, "unnamed": unnamed} {
			block(name+": "+method.Name+" "+variant, func() {
				s.with(answerTo(method.Type))
				tell(client.Method(i), argument)
				for _, request := range s.seen(false) {
					line(request)
				}
			})
		}
		block(name+": "+method.Name+" failing", func() {
			s.with(failure)
			tell(client.Method(i), argumentOfUntyped)
		})
	}
}

// argumentOfUntyped returns a filled argument. Objects have the fields that a server requires.
func argumentOfUntyped(t reflect.Type) reflect.Value {
	if t != reflect.TypeFor[*unstructured.Unstructured]() {
		return filled(t)
	}
	return reflect.ValueOf(thing())
}

func thing() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v2", "kind": "Thing",
		"metadata": map[string]any{"name": "thing", "namespace": "ns", "labels": map[string]any{"a": "<b>"}}, "spec": map[string]any{"n": int64(1), "f": 1.5, "list": []any{"a", nil}}}}
}

func dynamicAnswer(method reflect.Type) http.HandlerFunc {
	switch method.Out(0) {
	case reflect.TypeFor[watch.Interface]():
		return events(filled(reflect.TypeFor[*corev1.ConfigMap]()).Interface().(runtime.Object))
	case reflect.TypeFor[*unstructured.UnstructuredList]():
		return object(http.StatusOK, filled(reflect.TypeFor[*corev1.ConfigMapList]()).Interface().(runtime.Object))
	case reflect.TypeFor[error]():
		return object(http.StatusOK, &metav1.Status{Status: metav1.StatusSuccess})
	default:
		return object(http.StatusCreated, filled(reflect.TypeFor[*corev1.ConfigMap]()).Interface().(runtime.Object))
	}
}

func metadataAnswer(method reflect.Type) http.HandlerFunc {
	switch method.Out(0) {
	case reflect.TypeFor[watch.Interface]():
		return events(filled(reflect.TypeFor[*metav1.PartialObjectMetadata]()).Interface().(runtime.Object))
	case reflect.TypeFor[*metav1.PartialObjectMetadataList]():
		return object(http.StatusOK, filled(reflect.TypeFor[*metav1.PartialObjectMetadataList]()).Interface().(runtime.Object))
	case reflect.TypeFor[error]():
		return object(http.StatusOK, &metav1.Status{Status: metav1.StatusSuccess})
	default:
		return object(http.StatusOK, filled(reflect.TypeFor[*metav1.PartialObjectMetadata]()).Interface().(runtime.Object))
	}
}

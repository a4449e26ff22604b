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
			tryClient(s, "dynamic "+gvr.String()+" in "+namespace, reflect.ValueOf(untyped.Resource(gvr).Namespace(namespace)), dynamicHandler)
			tryClient(s, "metadata "+gvr.String()+" in "+namespace, reflect.ValueOf(partial.Resource(gvr).Namespace(namespace)), metadataHandler)
		}
	}
}

func tryClient(s *server, name string, client reflect.Value, handlerFor func(reflect.Type) http.HandlerFunc) {
	for i := range client.NumMethod() {
		method := client.Type().Method(i)
		if method.Name == "Namespace" {
			continue
		}
		for variant, argument := range map[string]func(reflect.Type) reflect.Value{"full": argumentOfUntyped, "nothing": empty, "unnamed": unnamed} {
			block(name+": "+method.Name+" "+variant, func() {
				s.setHandler(handlerFor(method.Type))
				callAndPrint(client.Method(i), argument)
				for _, request := range s.requestLog(false) {
					line(request)
				}
			})
		}
		block(name+": "+method.Name+" failing", func() {
			s.setHandler(failureHandler)
			callAndPrint(client.Method(i), argumentOfUntyped)
		})
	}
}

// argumentOfUntyped returns a filled argument. Objects have the fields that a server requires.
func argumentOfUntyped(t reflect.Type) reflect.Value {
	if t != reflect.TypeFor[*unstructured.Unstructured]() {
		return filledValue(t)
	}
	return reflect.ValueOf(filledObject())
}

func filledObject() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v2", "kind": "Thing",
		"metadata": map[string]any{"name": "thing", "namespace": "ns", "labels": map[string]any{"a": "<b>"}}, "spec": map[string]any{"n": int64(1), "f": 1.5, "list": []any{"a", nil}}}}
}

func dynamicHandler(method reflect.Type) http.HandlerFunc {
	switch method.Out(0) {
	case reflect.TypeFor[watch.Interface]():
		return watchHandler(filledValue(reflect.TypeFor[*corev1.ConfigMap]()).Interface().(runtime.Object))
	case reflect.TypeFor[*unstructured.UnstructuredList]():
		return objectHandler(http.StatusOK, filledValue(reflect.TypeFor[*corev1.ConfigMapList]()).Interface().(runtime.Object))
	case reflect.TypeFor[error]():
		return objectHandler(http.StatusOK, &metav1.Status{Status: metav1.StatusSuccess})
	default:
		return objectHandler(http.StatusCreated, filledValue(reflect.TypeFor[*corev1.ConfigMap]()).Interface().(runtime.Object))
	}
}

func metadataHandler(method reflect.Type) http.HandlerFunc {
	switch method.Out(0) {
	case reflect.TypeFor[watch.Interface]():
		return watchHandler(filledValue(reflect.TypeFor[*metav1.PartialObjectMetadata]()).Interface().(runtime.Object))
	case reflect.TypeFor[*metav1.PartialObjectMetadataList]():
		return objectHandler(http.StatusOK, filledValue(reflect.TypeFor[*metav1.PartialObjectMetadataList]()).Interface().(runtime.Object))
	case reflect.TypeFor[error]():
		return objectHandler(http.StatusOK, &metav1.Status{Status: metav1.StatusSuccess})
	default:
		return objectHandler(http.StatusOK, filledValue(reflect.TypeFor[*metav1.PartialObjectMetadata]()).Interface().(runtime.Object))
	}
}

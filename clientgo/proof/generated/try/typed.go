package main

import (
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// tryTyped calls each method of each typed client.
func tryTyped() {
	s := serve()
	defer s.Close()
	for _, variant := range []struct {
		name, contentType, namespace string
		arguments                    func(reflect.Type) reflect.Value
		handler                      http.HandlerFunc // nil: handlerFor of the method
	}{
		{"JSON", "application/json", "ns", filledValue, nil},
		{"protobuf", protobufType, "ns", filledValue, nil},
		{"without a content type", "", "ns", filledValue, nil},
		{"no namespace", "application/json", "", filledValue, nil},
		{"nothing", "application/json", "ns", empty, nil},
		{"unnamed", "application/json", "ns", unnamed, nil},
		{"failing", "application/json", "ns", filledValue, failureHandler},
		{"failing in protobuf", protobufType, "ns", filledValue, failureHandler},
	} {
		config := &rest.Config{Host: s.URL, QPS: -1, UserAgent: "try", ContentConfig: rest.ContentConfig{ContentType: variant.contentType}}
		clients, err := kubernetes.NewForConfig(config)
		if err != nil {
			panic(err)
		}
		eachResource(reflect.ValueOf(clients), variant.namespace, func(name string, client reflect.Value) {
			for i := range client.NumMethod() {
				method := client.Type().Method(i)
				if method.Name == "RESTClient" {
					continue
				}
				block(fmt.Sprint(variant.name, ": ", name, " ", method.Name), func() {
					handler := variant.handler
					if handler == nil {
						handler = handlerFor(method.Type, client.Type())
					}
					s.setHandler(handler)
					callAndPrint(client.Method(i), variant.arguments)
					for _, request := range s.requestLog(false) {
						line(request)
					}
				})
			}
		})
	}
}

// eachResource calls visit with the client of each resource of a clientset.
func eachResource(clients reflect.Value, namespace string, visit func(name string, client reflect.Value)) {
	for i := range clients.NumMethod() {
		t := clients.Method(i).Type()
		if t.NumIn() != 0 || t.NumOut() != 1 || t.Out(0).Kind() != reflect.Interface || slices.Contains([]string{"Discovery", "WithLegacy"}, clients.Type().Method(i).Name) {
			continue
		}
		if _, ok := t.Out(0).MethodByName("RESTClient"); !ok {
			continue
		}
		group := clients.Method(i).Call(nil)[0]
		for k := range group.NumMethod() {
			method := group.Method(k)
			name := clients.Type().Method(i).Name + " " + group.Type().Method(k).Name
			switch t := method.Type(); {
			case t.NumOut() != 1 || t.Out(0).Kind() != reflect.Interface || group.Type().Method(k).Name == "RESTClient":
			case t.NumIn() == 0:
				visit(name, method.Call(nil)[0])
			case t.NumIn() == 1 && t.In(0).Kind() == reflect.String:
				visit(name, method.Call([]reflect.Value{reflect.ValueOf(namespace)})[0])
			default:
				line("not called:", name)
			}
		}
	}
}

// handlerFor returns the handler of a server that carries out the requests of a client's method.
func handlerFor(method, client reflect.Type) http.HandlerFunc {
	switch t := method.Out(0); {
	case t == reflect.TypeFor[watch.Interface]():
		get, _ := client.MethodByName("Get")
		return watchHandler(filledValue(get.Type.Out(0)).Interface().(runtime.Object))
	case t == reflect.TypeFor[error]():
		return objectHandler(http.StatusOK, &metav1.Status{Status: metav1.StatusSuccess})
	case t.Implements(reflect.TypeFor[runtime.Object]()) && t.Kind() == reflect.Pointer:
		return objectHandler(http.StatusOK, filledValue(t).Interface().(runtime.Object))
	default:
		return plainTextHandler
	}
}

// empty returns the zero value of an argument.
func empty(t reflect.Type) reflect.Value {
	if v := filledValue(t); t.Kind() == reflect.Interface {
		return v
	}
	return reflect.Zero(t)
}

// unnamed returns an argument without a name.
func unnamed(t reflect.Type) reflect.Value {
	switch v := filledValue(t); {
	case t.Kind() == reflect.String:
		return reflect.Zero(t)
	case t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct:
		return reflect.New(t.Elem())
	default:
		return v
	}
}

// callAndPrint calls a method with arguments from the function argument, and prints its results.
func callAndPrint(method reflect.Value, argument func(reflect.Type) reflect.Value) {
	for _, result := range method.Call(argumentsOf(method.Type(), argument)) {
		line(describe(result.Interface()))
	}
}

func describe(result any) string {
	switch r := result.(type) {
	case nil:
		return "nil"
	case error:
		return kindOf(r)
	case watch.Interface:
		var all []string
		for e := range r.ResultChan() {
			all = append(all, fmt.Sprintf("%s %T %s", e.Type, e.Object, text(e.Object)))
		}
		return strings.Join(all, " ")
	case *rest.Request:
		data, err := r.DoRaw(ctx)
		return fmt.Sprintf("%s %q %s", r.URL().RequestURI(), data, kindOf(err))
	case rest.ResponseWrapper:
		data, err := r.DoRaw(ctx)
		return fmt.Sprintf("%q %s", data, kindOf(err))
	case fields.Selector: // from a set, so the order is random
		parts := strings.Split(r.String(), ",")
		slices.Sort(parts)
		return strings.Join(parts, ",")
	}
	v := reflect.ValueOf(result)
	if v.Kind() != reflect.Slice || v.IsNil() {
		return fmt.Sprintf("%T %s", result, text(result))
	}
	var all []string // from a lister, so the order is random
	for i := range v.Len() {
		all = append(all, text(v.Index(i).Interface()))
	}
	slices.Sort(all)
	return fmt.Sprintf("%T %s", result, all)
}

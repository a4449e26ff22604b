package main

import (
	"fmt"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	fakes "k8s.io/client-go/testing"
)

// fakeClients are constructors of fakes. A file that is excluded with -tags=kinform_no_openapi adds
// the constructor with server-side apply.
var fakeClients = map[string]func(...runtime.Object) *fake.Clientset{"fake": fake.NewSimpleClientset}

// tryFakes calls each method of each fake client twice: with an object in the tracker, and without.
// It prints the actions that the fake has recorded.
func tryFakes() {
	for name, newClients := range fakeClients {
		eachResource(reflect.ValueOf(newClients()), "", func(resource string, _ reflect.Value) {
			clients := newClients()
			client := clientOf(clients, resource, "text-7") // the namespace of filled objects
			tryFake(name+": "+resource, clients, client, "Create", argumentOfFake)
			for _, arguments := range []struct {
				name string
				make func(reflect.Type) reflect.Value
			}{{"", argumentOfFake}, {" of nothing", empty}, {" unnamed", unnamed}} {
				for i := range client.NumMethod() {
					if method := client.Type().Method(i).Name; !strings.HasPrefix(method, "Create") || arguments.name != "" {
						tryFake(name+": "+resource+arguments.name+" again", clients, client, method, arguments.make)
					}
				}
			}
			if client.MethodByName("Delete").IsValid() {
				tryFake(name+": "+resource, clients, client, "Delete", argumentOfFake)
				for i := range client.NumMethod() {
					if method := client.Type().Method(i).Name; !strings.HasPrefix(method, "Create") && method != "Delete" {
						tryFake(name+": "+resource+" none", clients, client, method, argumentOfFake)
					}
				}
			}
		})
	}
}

// clientOf returns the client of a resource in a namespace.
func clientOf(clients kubernetes.Interface, resource, namespace string) (client reflect.Value) {
	eachResource(reflect.ValueOf(clients), namespace, func(name string, c reflect.Value) {
		if name == resource {
			client = c
		}
	})
	return client
}

func tryFake(name string, clients *fake.Clientset, client reflect.Value, method string, argument func(reflect.Type) reflect.Value) {
	call := client.MethodByName(method)
	if !call.IsValid() || method == "RESTClient" {
		return
	}
	block(name+" "+method, func() {
		clients.ClearActions()
		results := call.Call(argumentsOf(call.Type(), argument))
		for _, result := range results {
			switch r := result.Interface().(type) {
			case watch.Interface:
				r.Stop() // no more events will arrive
				line(describe(r))
			case *rest.Request, rest.ResponseWrapper:
				line(fmt.Sprintf("%T", r))
			default:
				line(describe(r))
			}
		}
		for _, action := range clients.Actions() {
			line(describeAction(action))
		}
	})
}

// describeAction returns everything that is recorded about an action.
func describeAction(action fakes.Action) string {
	s := fmt.Sprintf("%T %s %s/%s in %q: ", action, action.GetVerb(), action.GetResource(), action.GetSubresource(), action.GetNamespace())
	switch a := action.(type) {
	case fakes.ListActionImpl:
		return s + fmt.Sprint(a.Kind, a.Name, a.ListRestrictions.Labels, a.ListRestrictions.Fields, text(a.ListOptions))
	case fakes.WatchActionImpl:
		return s + fmt.Sprint(a.WatchRestrictions.Labels, a.WatchRestrictions.Fields, a.WatchRestrictions.ResourceVersion, text(a.ListOptions))
	case fakes.DeleteCollectionActionImpl:
		return s + fmt.Sprint(a.ListRestrictions.Labels, a.ListRestrictions.Fields, text(a.DeleteOptions), text(a.ListOptions))
	case fakes.PatchActionImpl:
		return s + fmt.Sprintf("%q %s %s %s", a.Name, a.PatchType, a.Patch, text(a.PatchOptions))
	default:
		return s + text(action)
	}
}

// argumentOfFake returns a filled argument. Names are the names of filled objects, and patches
// change filled objects.
func argumentOfFake(t reflect.Type) reflect.Value {
	switch {
	case t == reflect.TypeFor[types.PatchType]():
		return reflect.ValueOf(types.MergePatchType)
	case t == reflect.TypeFor[[]byte]():
		return reflect.ValueOf([]byte(`{"metadata":{"labels":{"patched":"yes"}}}`))
	case t.Kind() == reflect.String:
		return reflect.ValueOf("text-5").Convert(t)
	}
	v := filledValue(t)
	if t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct {
		for _, name := range []string{"Name", "Namespace"} { // of an apply configuration
			field := v.Elem().FieldByName(name)
			if field.IsValid() && field.Type() == reflect.TypeFor[*string]() {
				field.Set(reflect.ValueOf(new(map[string]string{"Name": "text-5", "Namespace": "text-7"}[name])))
			}
		}
	}
	return v
}

// argumentsOf returns the arguments of a method. A variadic method gets two values.
func argumentsOf(method reflect.Type, argument func(reflect.Type) reflect.Value) (in []reflect.Value) {
	for i := range method.NumIn() {
		t := method.In(i)
		if method.IsVariadic() && i == method.NumIn()-1 {
			t = t.Elem()
			in = append(in, argument(t))
		}
		in = append(in, argument(t))
	}
	return in
}

package main

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/applyconfigurations"
)

// functions has the functions of the packages below applyconfigurations, by name. A source file
// that the test generates fills the map.
var functions = map[string]any{}

// tryApplies calls each function of the apply configurations, and each method of the configurations
// that the functions return or take.
func tryApplies() {
	line("functions", len(functions))
	var types []reflect.Type
	for _, name := range slices.Sorted(maps.Keys(functions)) {
		fn := reflect.ValueOf(functions[name])
		for i := range fn.Type().NumOut() {
			types = reachable(types, fn.Type().Out(i))
		}
		switch {
		case strings.HasSuffix(name, ".NewUnstructuredExtractor"): // it takes a client
			continue
		case strings.Contains(name, ".Extract"):
			tryExtract(name, fn)
			continue
		}
		block("function "+name, func() { callAndPrint(fn, filledValue) })
	}
	slices.SortFunc(types, func(a, b reflect.Type) int {
		return strings.Compare(a.Elem().PkgPath()+a.String(), b.Elem().PkgPath()+b.String())
	})
	line("configurations", len(types))
	for _, t := range types {
		tryConfiguration(t)
		gvk := kindOfConfiguration(t)
		block("for "+gvk.String(), func() { line(fmt.Sprintf("%T", applyconfigurations.ForKind(gvk))) })
	}
}

// kindOfConfiguration returns the kind of the object that a configuration is for.
func kindOfConfiguration(t reflect.Type) schema.GroupVersionKind {
	gvk := kindOfType(t)
	gvk.Kind = strings.TrimSuffix(gvk.Kind, "ApplyConfiguration")
	return gvk
}

// reachable appends the configuration t to a slice of types. It also appends all configurations
// that the methods of t take and return.
func reachable(types []reflect.Type, t reflect.Type) []reflect.Type {
	if t.Kind() != reflect.Pointer || !strings.HasSuffix(t.Elem().Name(), "ApplyConfiguration") || slices.Contains(types, t) {
		return types
	}
	types = append(types, t)
	for i := range t.NumMethod() {
		m := t.Method(i).Type
		for k := 1; k < m.NumIn(); k++ {
			in := m.In(k)
			if m.IsVariadic() && k == m.NumIn()-1 {
				in = in.Elem()
			}
			types = reachable(types, in)
		}
	}
	return types
}

// tryConfiguration calls each method of a configuration: each setter twice, and each getter in
// between.
func tryConfiguration(t reflect.Type) {
	name := t.Elem().PkgPath() + "." + t.Elem().Name()
	all := reflect.New(t.Elem())
	for i := range t.NumMethod() {
		method := t.Method(i)
		if !strings.HasPrefix(method.Name, "With") {
			continue
		}
		block(name+" "+method.Name, func() {
			one := reflect.New(t.Elem())
			for range 2 {
				callAndPrint(one.Method(i), filledValue)
			}
			callAndPrint(all.Method(i), filledValue)
			line("the same", all.Method(i).Call(arguments(all.Method(i)))[0].Pointer() == all.Pointer())
		})
		block(name+" "+method.Name+" of nothing", func() { callAndPrint(reflect.New(t.Elem()).Method(i), empty) })
	}
	for i := range t.NumMethod() {
		if method := t.Method(i); !strings.HasPrefix(method.Name, "With") {
			block(name+" "+method.Name, func() {
				callAndPrint(all.Method(i), filledValue)
				callAndPrint(reflect.New(t.Elem()).Method(i), filledValue)
			})
		}
	}
}

func arguments(method reflect.Value) (in []reflect.Value) {
	n := method.Type().NumIn()
	if method.Type().IsVariadic() {
		n--
	}
	for i := range n {
		in = append(in, filledValue(method.Type().In(i)))
	}
	return in
}

// tryExtract extracts the applied fields from a full object. The managers own all possible fields,
// some, and none.
func tryExtract(name string, fn reflect.Value) {
	for manager, owned := range map[string]string{
		"meta":   `{"f:metadata":{"f:labels":{"f:text-18":{}},"f:annotations":{}}}`,
		"status": `{"f:status":{}}`,
		"spec":   `{"f:metadata":{"f:finalizers":{"v:\"text-26\"":{}}},"f:spec":{},"f:data":{},"f:rules":{},"f:webhooks":{}}`,
		"odd":    `{"x:spec":{},"f:spec":{}}`,
		"whole":  `{".":{}}`,
	} {
		for _, subresource := range []string{"", "status"} {
			block(fmt.Sprintf("function %s for %s of %q", name, manager, subresource), func() {
				object := filledValue(fn.Type().In(0))
				object.Interface().(metav1.Object).SetManagedFields([]metav1.ManagedFieldsEntry{
					{Manager: "other", Operation: metav1.ManagedFieldsOperationApply, FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{}}`)},
					{Manager: "m", Operation: metav1.ManagedFieldsOperationUpdate, FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{}}`)},
					{Manager: "m", Operation: metav1.ManagedFieldsOperationApply, FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(owned), Subresource: subresource},
				})
				in := []reflect.Value{object, reflect.ValueOf("m")}
				if fn.Type().NumIn() == 3 {
					in = append(in, reflect.ValueOf("status"))
				}
				for _, result := range fn.Call(in) {
					line(describe(result.Interface()))
				}
			})
		}
	}
}

package cache

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"
)

// handlerName identifies a handler in logs. The name of a type includes its package. A function
// literal is identified by the function that contains it. An adapter of this package is identified
// by the handler or the functions that it calls.
func handlerName(handler any) string {
	v := reflect.ValueOf(handler)
	if v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	if name := nameOfHandler(v); name != "" {
		return name
	}
	return fmt.Sprintf("%T", handler)
}

var thisPackage = reflect.TypeFor[ResourceEventHandlerFuncs]().PkgPath()

func nameOfHandler(v reflect.Value) string {
	if !v.IsValid() {
		return ""
	}
	t := v.Type()
	if t.PkgPath() == thisPackage && t.Kind() == reflect.Struct {
		return nameOfAdapter(v)
	}
	if t.Name() == "" {
		return ""
	}
	return t.PkgPath() + "." + t.Name()
}

// nameOfAdapter names the functions and handlers in the fields of an adapter. Function literals in
// the same function are named once.
func nameOfAdapter(v reflect.Value) string {
	var names []string
	definers := map[string]bool{}
	for i := range v.NumField() {
		name := ""
		switch field := v.Field(i); field.Kind() {
		case reflect.Func:
			if fn := runtime.FuncForPC(field.Pointer()); fn != nil {
				name = fn.Name()
				definer := name
				if dot := strings.LastIndexByte(name, '.'); dot > 0 {
					definer = name[:dot]
				}
				definers[definer] = true
			}
		case reflect.Interface:
			field = field.Elem()
			if field.Kind() == reflect.Pointer && !field.IsNil() {
				field = field.Elem()
			}
			if name = nameOfHandler(field); name != "" {
				definers[name] = true
			}
		}
		if name != "" {
			names = append(names, name)
		}
	}
	if len(definers) == 1 {
		for definer := range definers {
			return definer
		}
	}
	return strings.Join(names, "+")
}

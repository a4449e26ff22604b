// Package rejoin gives a transform a copy of an object that shares parts with others, and lets
// what the transform has left as it was share these parts again.
//
// A decoder that shares takes a third of the time of one that does not, and all objects of a list
// are in memory before the first of them is transformed. So the objects of the list share, and
// each is copied when its turn comes. Package rest/sharing exports this for other modules.
package rejoin

import (
	"bytes"
	"maps"
	"reflect"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
)

// Copies reports whether objects of a type have a DeepCopyObject that is known to copy all that
// a program can change: generated code, or that of apimachinery.
func Copies(t reflect.Type) bool {
	if t.Kind() != reflect.Pointer || !t.Implements(reflect.TypeFor[runtime.Object]()) {
		return false
	}
	path := t.Elem().PkgPath()
	return strings.HasPrefix(path, "k8s.io/api/") || strings.HasPrefix(path, "k8s.io/apimachinery/")
}

// Transform calls a transform with a copy of an object, whose type copies. If the transform
// returns that copy, it takes those parts of the object that are equal to its own. A copy that
// the transform has kept for itself may see that, and so must not be read by it any more.
func Transform(object runtime.Object, transform func(any) (any, error)) (any, error) {
	copied := object.DeepCopyObject()
	if copied == nil { // of a nil pointer
		return transform(object)
	}
	result, err := transform(copied)
	if err == nil && result == any(copied) {
		join(reflect.ValueOf(copied), reflect.ValueOf(object))
	}
	return result, err
}

// join reports whether to is equal to from, which has the same type. Where parts of to that a
// program can change are equal, it replaces them by those of from. to itself is for the caller.
func join(to, from reflect.Value) bool {
	switch to.Kind() {
	case reflect.Struct:
		n := exportedFields(to.Type())
		if n < 0 {
			return to.Comparable() && from.Comparable() && to.Equal(from)
		}
		equal := true
		for i := range n {
			equal = replace(to.Field(i), from.Field(i)) && equal
		}
		return equal
	case reflect.String:
		return to.String() == from.String()
	case reflect.Pointer, reflect.Interface, reflect.Map, reflect.Slice:
		if to.IsNil() || from.IsNil() {
			return to.IsNil() == from.IsNil()
		}
	}
	switch to.Kind() {
	case reflect.Pointer:
		return to.UnsafePointer() == from.UnsafePointer() || join(to.Elem(), from.Elem())
	case reflect.Interface:
		to, from = to.Elem(), from.Elem()
		return to.Type() == from.Type() && join(to, from)
	case reflect.Slice, reflect.Array:
		if to.Kind() == reflect.Slice && to.Type().Elem().Kind() == reflect.Uint8 {
			return bytes.Equal(to.Bytes(), from.Bytes())
		}
		equal := to.Len() == from.Len()
		for i := range min(to.Len(), from.Len()) {
			equal = replace(to.Index(i), from.Index(i)) && equal
		}
		return equal
	case reflect.Map:
		return joinMap(to, from)
	}
	return to.Comparable() && to.Equal(from)
}

// replace joins, and sets to to from if they are equal and may be shared.
func replace(to, from reflect.Value) bool {
	if !join(to, from) {
		return false
	}
	switch to.Kind() {
	case reflect.Pointer, reflect.Interface, reflect.Map, reflect.Slice:
		if to.CanSet() {
			to.Set(from)
		}
	}
	return true
}

func joinMap(to, from reflect.Value) bool {
	switch to.Type() {
	case reflect.TypeFor[map[string]any]():
		return joinObject(to.Interface().(map[string]any), from.Interface().(map[string]any))
	case reflect.TypeFor[map[string]string]():
		return maps.Equal(to.Interface().(map[string]string), from.Interface().(map[string]string))
	}
	if to.Len() != from.Len() {
		return false
	}
	for entries := to.MapRange(); entries.Next(); {
		if before := from.MapIndex(entries.Key()); !before.IsValid() || !join(entries.Value(), before) {
			return false
		}
	}
	return true
}

// joinObject is join for the objects of JSON.
func joinObject(to, from map[string]any) bool {
	equal := len(to) == len(from)
	for key, value := range to {
		before, ok := from[key]
		switch {
		case !ok || !joinJSON(value, before):
			equal = false
		case isPart(value):
			to[key] = before
		}
	}
	return equal
}

func joinJSON(to, from any) bool {
	switch to := to.(type) {
	case map[string]any:
		from, ok := from.(map[string]any)
		return ok && (to == nil) == (from == nil) && joinObject(to, from)
	case []any:
		from, ok := from.([]any)
		equal := ok && len(to) == len(from) && (to == nil) == (from == nil)
		for i := range min(len(to), len(from)) {
			if !joinJSON(to[i], from[i]) {
				equal = false
			} else if isPart(to[i]) {
				to[i] = from[i]
			}
		}
		return equal
	case string, int64, float64, bool, nil:
		return to == from
	}
	return false
}

func isPart(value any) bool {
	switch value.(type) {
	case map[string]any, []any:
		return true
	}
	return false
}

var known sync.Map // of reflect.Type to int

// exportedFields returns how many fields a struct has, or -1 if some are not exported. Such types,
// as time.Time and resource.Quantity, are compared as a whole.
func exportedFields(t reflect.Type) int {
	if n, ok := known.Load(t); ok {
		return n.(int)
	}
	n := t.NumField()
	for i := range t.NumField() {
		if !t.Field(i).IsExported() {
			n = -1
		}
	}
	known.Store(t, n)
	return n
}

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
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
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
// returns that copy, Transform returns another one, which has those parts of the object that are
// equal to the copy's. The copy stays as the transform returned it, since a program may keep and
// read it, as client-go allows.
func Transform(object runtime.Object, transform func(any) (any, error)) (any, error) {
	copied := object.DeepCopyObject()
	if copied == nil { // of a nil pointer
		return transform(object)
	}
	result, err := transform(copied)
	if err != nil || result != any(copied) {
		return result, err
	}
	root := reflect.New(reflect.TypeOf(copied).Elem())
	root.Elem().Set(reflect.ValueOf(copied).Elem())
	join(root.Elem(), reflect.ValueOf(object).Elem())
	return root.Interface(), nil
}

// join replaces the parts of to that are equal to those of from, which has the same type. to can be
// set, and what it points to is not changed: a part of which only some parts are equal becomes another.
func join(to, from reflect.Value) {
	switch to.Kind() {
	case reflect.Struct:
		for i := range exportedFields(to.Type()) {
			join(to.Field(i), from.Field(i))
		}
		return
	case reflect.Pointer, reflect.Map, reflect.Slice:
		if to.IsNil() || from.IsNil() {
			return
		}
		if equal(to, from) {
			to.Set(from)
			return
		}
	}
	switch to.Kind() {
	case reflect.Pointer:
		fresh := reflect.New(to.Type().Elem())
		fresh.Elem().Set(to.Elem())
		join(fresh.Elem(), from.Elem())
		to.Set(fresh)
	case reflect.Slice:
		switch to.Type().Elem().Kind() {
		case reflect.Struct, reflect.Pointer, reflect.Map, reflect.Slice:
			fresh := reflect.MakeSlice(to.Type(), to.Len(), to.Len())
			reflect.Copy(fresh, to)
			for i := range min(to.Len(), from.Len()) {
				join(fresh.Index(i), from.Index(i))
			}
			to.Set(fresh)
		}
	case reflect.Map:
		if to.Type() == reflect.TypeFor[map[string]any]() {
			to.Set(reflect.ValueOf(joinJSON(to.Interface(), from.Interface())))
		}
	}
}

// joinJSON is join for the values of JSON: it returns from if that is equal to to.
func joinJSON(to, from any) any {
	if equalJSON(to, from) {
		return from
	}
	switch to := to.(type) {
	case map[string]any:
		if from, ok := from.(map[string]any); ok && to != nil {
			fresh := make(map[string]any, len(to))
			for key, value := range to {
				if before, ok := from[key]; ok {
					value = joinJSON(value, before)
				}
				fresh[key] = value
			}
			return fresh
		}
	case []any:
		if from, ok := from.([]any); ok && to != nil {
			fresh := make([]any, len(to))
			copy(fresh, to)
			for i := range min(len(to), len(from)) {
				fresh[i] = joinJSON(to[i], from[i])
			}
			return fresh
		}
	}
	return to
}

// equal reports whether to is equal to from, which has the same type.
func equal(to, from reflect.Value) bool {
	switch to.Kind() {
	case reflect.Struct:
		n := exportedFields(to.Type())
		for i := range n {
			if !equal(to.Field(i), from.Field(i)) {
				return false
			}
		}
		return n > 0 || equalWhole(to, from)
	case reflect.String:
		return to.String() == from.String()
	case reflect.Bool:
		return to.Bool() == from.Bool()
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return to.Int() == from.Int()
	case reflect.Pointer, reflect.Interface, reflect.Map, reflect.Slice:
		if to.IsNil() || from.IsNil() {
			return to.IsNil() == from.IsNil()
		}
	}
	switch to.Kind() {
	case reflect.Pointer:
		return to.UnsafePointer() == from.UnsafePointer() || equal(to.Elem(), from.Elem())
	case reflect.Interface:
		to, from = to.Elem(), from.Elem()
		return to.Type() == from.Type() && equal(to, from)
	case reflect.Slice, reflect.Array:
		if to.Kind() == reflect.Slice && to.Type().Elem().Kind() == reflect.Uint8 {
			return bytes.Equal(to.Bytes(), from.Bytes())
		}
		if to.Len() != from.Len() {
			return false
		}
		for i := range to.Len() {
			if !equal(to.Index(i), from.Index(i)) {
				return false
			}
		}
		return true
	case reflect.Map:
		return equalMap(to, from)
	}
	return to.Comparable() && to.Equal(from)
}

// equalWhole is equal for structs with fields that are not exported. Those that pods have many of
// are compared by themselves, because reflection takes twenty times as long.
func equalWhole(to, from reflect.Value) bool {
	if to.CanAddr() && from.CanAddr() {
		switch to := to.Addr().Interface().(type) {
		case *time.Time:
			return *to == *from.Addr().Interface().(*time.Time)
		case *resource.Quantity:
			return *to == *from.Addr().Interface().(*resource.Quantity)
		}
	}
	return to.Comparable() && from.Comparable() && to.Equal(from)
}

func equalMap(to, from reflect.Value) bool {
	switch to.Type() {
	case reflect.TypeFor[map[string]any]():
		return equalJSON(to.Interface(), from.Interface())
	case reflect.TypeFor[map[string]string]():
		return maps.Equal(to.Interface().(map[string]string), from.Interface().(map[string]string))
	}
	if to.Len() != from.Len() {
		return false
	}
	// Values with an address: see equalWhole.
	key, value, before := reflect.New(to.Type().Key()).Elem(), reflect.New(to.Type().Elem()).Elem(), reflect.New(to.Type().Elem()).Elem()
	for entries := to.MapRange(); entries.Next(); {
		key.SetIterKey(entries)
		found := from.MapIndex(key)
		if !found.IsValid() {
			return false
		}
		value.SetIterValue(entries)
		before.Set(found)
		if !equal(value, before) {
			return false
		}
	}
	return true
}

func equalJSON(to, from any) bool {
	switch to := to.(type) {
	case map[string]any:
		from, ok := from.(map[string]any)
		if !ok || len(to) != len(from) || (to == nil) != (from == nil) {
			return false
		}
		for key, value := range to {
			if before, ok := from[key]; !ok || !equalJSON(value, before) {
				return false
			}
		}
		return true
	case []any:
		from, ok := from.([]any)
		return ok && (to == nil) == (from == nil) && slices.EqualFunc(to, from, equalJSON)
	case string, int64, float64, bool, nil:
		return to == from
	}
	return false
}

var known sync.Map // of reflect.Type to int

// exportedFields returns how many fields a struct has, or 0 if some are not exported. Such types,
// as time.Time and resource.Quantity, are compared as a whole.
func exportedFields(t reflect.Type) int {
	if n, ok := known.Load(t); ok {
		return n.(int)
	}
	n := t.NumField()
	for i := range t.NumField() {
		if !t.Field(i).IsExported() {
			n = 0
		}
	}
	known.Store(t, n)
	return n
}

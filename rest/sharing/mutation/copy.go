package mutation

import (
	"reflect"
	"unsafe"

	"k8s.io/apimachinery/pkg/api/resource"
)

// copier makes deep copies. What several objects share is copied once, when it is
// met first: if it has changed by the time that another object comes with it, then
// that object is not what the server sent.
type copier map[part]reflect.Value

// part is something that may be shared: what a pointer, a map or a slice refers to.
type part struct {
	typ     reflect.Type
	address unsafe.Pointer
	len     int // of a slice
}

var quantity = reflect.TypeFor[resource.Quantity]()

// of returns a deep copy.
func (c copier) of(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice:
		if v.IsNil() {
			return v
		}
		p := part{typ: v.Type(), address: v.UnsafePointer()}
		if v.Kind() == reflect.Slice {
			p.len = v.Len()
		}
		known, ok := c[p]
		if !ok {
			known = c.part(v)
			c[p] = known
		}
		return known
	case reflect.Interface:
		if v.IsNil() {
			return v
		}
		return c.of(v.Elem())
	case reflect.Array, reflect.Struct, reflect.String:
		own := reflect.New(v.Type()).Elem()
		c.into(own, v)
		return own
	}
	return v
}

// part copies what a pointer, a map or a slice refers to.
func (c copier) part(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.Pointer:
		own := reflect.New(v.Type().Elem())
		c.into(own.Elem(), v.Elem())
		return own
	case reflect.Map:
		own := reflect.MakeMapWithSize(v.Type(), v.Len())
		for entries := v.MapRange(); entries.Next(); {
			own.SetMapIndex(entries.Key(), c.of(entries.Value()))
		}
		return own
	default:
		own := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			c.into(own.Index(i), v.Index(i))
		}
		return own
	}
}

// into copies from into to, which is of the same type.
func (c copier) into(to, from reflect.Value) {
	switch {
	case from.Type() == quantity:
		q := from.Interface().(resource.Quantity)
		to.Set(reflect.ValueOf(q.DeepCopy()))
	case from.Kind() == reflect.Struct:
		to.Set(from)
		for i := range from.NumField() {
			if from.Type().Field(i).IsExported() {
				c.into(to.Field(i), from.Field(i))
			}
		}
	case from.Kind() == reflect.Array:
		for i := range from.Len() {
			c.into(to.Index(i), from.Index(i))
		}
	case from.Kind() == reflect.String:
		// Also a string can change, if it is a piece of a buffer that is used again.
		to.SetString(string([]byte(from.String())))
	default:
		to.Set(c.of(from))
	}
}

package mutation

import (
	"reflect"
	"unsafe"

	"k8s.io/apimachinery/pkg/api/resource"
)

// copier makes deep copies. It copies a part that several objects share only once, with the first
// of these objects. If a program changes the part before the next of these objects is recorded, the
// copy still has the content that the server sent.
type copier map[part]reflect.Value

// part is a part of an object that may be shared: the pointee of a pointer, the content of a map
// or the array of a slice.
type part struct {
	typ     reflect.Type
	address unsafe.Pointer
	len     int // of a slice
}

var quantity = reflect.TypeFor[resource.Quantity]()

// deepCopy returns a deep copy of its argument.
func (c copier) deepCopy(v reflect.Value) reflect.Value {
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
			known = c.copyPart(v)
			c[p] = known
		}
		return known
	case reflect.Interface:
		if v.IsNil() {
			return v
		}
		return c.deepCopy(v.Elem())
	case reflect.Array, reflect.Struct, reflect.String:
		own := reflect.New(v.Type()).Elem()
		c.copyInto(own, v)
		return own
	}
	return v
}

// copyPart copies a pointer, a map or a slice with its content.
func (c copier) copyPart(v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.Pointer:
		own := reflect.New(v.Type().Elem())
		c.copyInto(own.Elem(), v.Elem())
		return own
	case reflect.Map:
		own := reflect.MakeMapWithSize(v.Type(), v.Len())
		for entries := v.MapRange(); entries.Next(); {
			own.SetMapIndex(entries.Key(), c.deepCopy(entries.Value()))
		}
		return own
	default:
		own := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			c.copyInto(own.Index(i), v.Index(i))
		}
		return own
	}
}

// copyInto makes a deep copy of its second argument, and stores the copy in its first argument.
// Both have the same type.
func (c copier) copyInto(to, from reflect.Value) {
	switch {
	case from.Type() == quantity:
		q := from.Interface().(resource.Quantity)
		to.Set(reflect.ValueOf(q.DeepCopy()))
	case from.Kind() == reflect.Struct:
		to.Set(from)
		for i := range from.NumField() {
			if from.Type().Field(i).IsExported() {
				c.copyInto(to.Field(i), from.Field(i))
			}
		}
	case from.Kind() == reflect.Array:
		for i := range from.Len() {
			c.copyInto(to.Index(i), from.Index(i))
		}
	case from.Kind() == reflect.String:
		// A string can change as well, if it is a part of a reused buffer.
		to.SetString(string([]byte(from.String())))
	default:
		to.Set(c.deepCopy(from))
	}
}

package mutation

import (
	"fmt"
	"reflect"
	"unsafe"

	"k8s.io/apimachinery/pkg/api/resource"
)

// comparison collects the differences between an object and its copy.
type comparison struct {
	differences []difference
}

// difference is one changed field.
type difference struct {
	path          string
	at            location
	before, after string
}

// location identifies a field in memory: by an address, or by a key of the map at an address. If
// two objects share a field, its location is the same in both.
type location struct {
	address unsafe.Pointer // nil if the field has no address of its own
	key     any            // of a map
}

// compare compares two values of the same type. The argument at is the location of the value now if
// this value has no address.
func (c *comparison) compare(path string, at location, before, now reflect.Value) {
	if now.CanAddr() {
		at = location{address: now.Addr().UnsafePointer()}
	}
	switch now.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice, reflect.Interface:
		if before.IsNil() || now.IsNil() {
			if before.IsNil() != now.IsNil() {
				c.add(path, at, before, now)
			}
			return
		}
	}
	switch now.Kind() {
	case reflect.Pointer:
		c.compare(path, at, before.Elem(), now.Elem())
	case reflect.Interface:
		if before.Elem().Type() != now.Elem().Type() {
			c.add(path, at, before, now)
			return
		}
		c.compare(path, at, before.Elem(), now.Elem())
	case reflect.Map:
		c.compareMaps(path, at, before, now)
	case reflect.Slice, reflect.Array:
		if before.Len() != now.Len() {
			c.add(path, at, before, now)
			return
		}
		for i := range now.Len() {
			c.compare(fmt.Sprintf("%s[%d]", path, i), at, before.Index(i), now.Index(i))
		}
	case reflect.Struct:
		c.compareStructs(path, at, before, now)
	default:
		if before.CanInterface() && !reflect.DeepEqual(before.Interface(), now.Interface()) {
			c.add(path, at, before, now)
		}
	}
}

func (c *comparison) compareMaps(path string, at location, before, now reflect.Value) {
	at.address = now.UnsafePointer()
	for entries := before.MapRange(); entries.Next(); {
		key := entries.Key()
		at.key = key.Interface()
		path := fmt.Sprintf("%s[%#v]", path, at.key)
		if value := now.MapIndex(key); value.IsValid() {
			c.compare(path, at, entries.Value(), value)
		} else {
			c.differences = append(c.differences, difference{path, at, text(entries.Value()), "(nothing)"})
		}
	}
	for entries := now.MapRange(); entries.Next(); {
		key := entries.Key()
		if !before.MapIndex(key).IsValid() {
			at.key = key.Interface()
			c.differences = append(c.differences, difference{fmt.Sprintf("%s[%#v]", path, at.key), at, "(nothing)", text(entries.Value())})
		}
	}
}

func (c *comparison) compareStructs(path string, at location, before, now reflect.Value) {
	t := now.Type()
	if t == quantity {
		// Reading a Quantity may change its cached text and its form, but not its value.
		b, n := before.Interface().(resource.Quantity), now.Interface().(resource.Quantity)
		if b.Format != n.Format || b.Cmp(n) != 0 {
			c.add(path, at, before, now)
		}
		return
	}
	opaque := true
	for i := range t.NumField() {
		if field := t.Field(i); field.IsExported() {
			opaque = false
			name := path + "." + field.Name
			if field.Anonymous {
				name = path // Go code omits the name of an embedded field
			}
			c.compare(name, at, before.Field(i), now.Field(i))
		}
	}
	if opaque && before.CanInterface() && !reflect.DeepEqual(before.Interface(), now.Interface()) {
		c.add(path, at, before, now)
	}
}

func (c *comparison) add(path string, at location, before, now reflect.Value) {
	c.differences = append(c.differences, difference{path, at, text(before), text(now)})
}

// text formats a value for a message.
func text(v reflect.Value) string {
	if (v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface) && !v.IsNil() {
		return text(v.Elem())
	}
	if !v.CanInterface() {
		return v.String()
	}
	var s string
	switch value := v.Interface().(type) {
	case resource.Quantity:
		s = value.String()
	case fmt.Stringer:
		s = value.String()
	default:
		s = fmt.Sprintf("%#v", value)
	}
	const limit = 200
	if len(s) > limit {
		s = s[:limit] + "..."
	}
	return s
}

package protobuf

import (
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// compiler derives the encoding of a type, and of all types that it contains, from their fields. It
// maps each type to its encoding.
type compiler map[reflect.Type]*message

// own returns the encoder of a type whose encoding does not follow from its fields. It returns nil
// for all other types.
func own(t reflect.Type) func(v reflect.Value) ([]byte, error) {
	switch t {
	case reflect.TypeFor[metav1.Time]():
		return func(v reflect.Value) ([]byte, error) { return pointer[metav1.Time](v).Marshal() }
	case reflect.TypeFor[metav1.MicroTime]():
		return func(v reflect.Value) ([]byte, error) { return pointer[metav1.MicroTime](v).Marshal() }
	case reflect.TypeFor[metav1.FieldsV1]():
		return func(v reflect.Value) ([]byte, error) { return pointer[metav1.FieldsV1](v).Marshal() }
	case reflect.TypeFor[resource.Quantity]():
		return func(v reflect.Value) ([]byte, error) { return pointer[resource.Quantity](v).Marshal() }
	}
	return nil
}

// pointer returns a pointer to a value, or to a copy if the value is not addressable.
func pointer[T any](v reflect.Value) *T {
	if v.CanAddr() {
		return (*T)(v.Addr().UnsafePointer())
	}
	to := new(T)
	reflect.ValueOf(to).Elem().Set(v)
	return to
}

func (c compiler) message(t reflect.Type) (*message, error) {
	if m := c[t]; m != nil {
		return m, nil
	}
	m := &message{own: own(t)}
	c[t] = m
	switch {
	case m.own != nil:
		return m, nil
	case t.Kind() == reflect.Slice:
		var err error
		m.list, err = c.list(t)
		return m, err
	case t.Kind() != reflect.Struct:
		return nil, fmt.Errorf("%s is no message", t)
	}
	for i := range t.NumField() {
		sf := t.Field(i)
		tag, ok := sf.Tag.Lookup("protobuf")
		if !ok {
			continue
		}
		f, err := c.tagged(sf, tag)
		if err != nil {
			return nil, fmt.Errorf("%s.%s, tag %q: %w", t, sf.Name, tag, err)
		}
		f.index = i
		m.fields = append(m.fields, f)
	}
	if len(m.fields) == 0 && t.NumField() > 0 {
		return nil, fmt.Errorf("no field of %s has a protobuf tag", t)
	}
	slices.SortFunc(m.fields, func(a, b field) int { return a.number - b.number })
	return m, nil
}

// tagged returns the encoding of a struct field with a tag such as "bytes,2,opt,name=spec".
func (c compiler) tagged(sf reflect.StructField, tag string) (f field, err error) {
	parts := strings.Split(tag, ",")
	if len(parts) < 2 || !sf.IsExported() {
		return f, errors.New("it has no number, or is not exported")
	}
	if f.number, err = strconv.Atoi(parts[1]); err != nil || f.number < 1 {
		return f, errors.New("the number must be 1 or more")
	}
	if parts[0] != "bytes" && parts[0] != "varint" {
		return f, fmt.Errorf("the encoding %q is not known", parts[0])
	}
	f.put, err = c.putter(sf.Type, len(parts) > 2 && parts[2] == "rep")
	return f, err
}

// putter returns the encoder of a field's type. repeated means that the field is a list. It derives
// the encoding from the Go type and not from the tag, because some tags of Kubernetes are wrong.
func (c compiler) putter(t reflect.Type, repeated bool) (putter, error) {
	switch k := t.Kind(); {
	case k == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
		return putBytes, nil
	case k == reflect.Map:
		return c.mapping(t)
	case k == reflect.Slice && (repeated || t.Name() == ""):
		return c.list(t)
	case k == reflect.Struct || k == reflect.Slice:
		m, err := c.message(t)
		if err != nil {
			return nil, err
		}
		return m.nested, nil
	case k == reflect.Pointer:
		put, err := c.putter(t.Elem(), false)
		return func(to []byte, number int, v reflect.Value) ([]byte, error) {
			if v.IsNil() {
				return to, nil
			}
			return put(to, number, v.Elem())
		}, err
	case k == reflect.Bool:
		return putBool, nil
	case k == reflect.Int32 || k == reflect.Int64:
		return putInt, nil
	case k == reflect.Uint32 || k == reflect.Uint64:
		return putUint, nil
	case k == reflect.String:
		return putString, nil
	}
	return nil, fmt.Errorf("%s is not known", t)
}

// element returns the encoder of an element of a list or a map.
func (c compiler) element(t reflect.Type) (putter, error) {
	if t.Kind() == reflect.Slice && t.Name() != "" && t.Elem().Kind() != reflect.Uint8 {
		m, err := c.message(t)
		return m.element, err
	}
	return c.putter(t, false)
}

// list returns the encoder of a list. Each element is encoded as a separate field.
func (c compiler) list(t reflect.Type) (putter, error) {
	put, err := c.element(t.Elem())
	if t.Elem().Kind() == reflect.Slice && t.Elem().Elem().Kind() == reflect.Uint8 {
		put = putEachBytes
	}
	return func(to []byte, number int, v reflect.Value) (_ []byte, err error) {
		for i := range v.Len() {
			if to, err = put(to, number, v.Index(i)); err != nil {
				return nil, err
			}
		}
		return to, nil
	}, err
}

// mapping returns the encoder of a map. Each entry is encoded as a message with key and value,
// sorted by key.
func (c compiler) mapping(t reflect.Type) (putter, error) {
	put, err := c.element(t.Elem())
	if err == nil && t.Key().Kind() != reflect.String {
		err = fmt.Errorf("keys of maps must be strings, not %s", t.Key())
	}
	return func(to []byte, number int, v reflect.Value) (_ []byte, err error) {
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, key := range keys {
			to, err = appendWithLength(appendTag(to, number, wireBytes), func(to []byte) ([]byte, error) {
				to, _ = putString(to, 1, key)
				return put(to, 2, v.MapIndex(key))
			})
			if err != nil {
				return nil, err
			}
		}
		return to, nil
	}, err
}

func putBool(to []byte, number int, v reflect.Value) ([]byte, error) {
	bit := byte(0)
	if v.Bool() {
		bit = 1
	}
	return append(appendTag(to, number, wireVarint), bit), nil
}

func putInt(to []byte, number int, v reflect.Value) ([]byte, error) {
	return binary.AppendUvarint(appendTag(to, number, wireVarint), uint64(v.Int())), nil
}

func putUint(to []byte, number int, v reflect.Value) ([]byte, error) {
	return binary.AppendUvarint(appendTag(to, number, wireVarint), v.Uint()), nil
}

func putString(to []byte, number int, v reflect.Value) ([]byte, error) {
	s := v.String()
	return append(binary.AppendUvarint(appendTag(to, number, wireBytes), uint64(len(s))), s...), nil
}

func putBytes(to []byte, number int, v reflect.Value) ([]byte, error) {
	if v.IsNil() {
		return to, nil
	}
	return putEachBytes(to, number, v)
}

func putEachBytes(to []byte, number int, v reflect.Value) ([]byte, error) {
	b := v.Bytes()
	return append(binary.AppendUvarint(appendTag(to, number, wireBytes), uint64(len(b))), b...), nil
}

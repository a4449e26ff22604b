package jsonpath

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// maxDepth bounds how deep the data is searched, because pointers may form cycles.
const maxDepth = 1000

// indirect follows pointers and interfaces to a value. It stops at a nil pointer or interface and
// returns it.
func indirect(v reflect.Value) reflect.Value {
	for range maxDepth {
		if (v.Kind() != reflect.Pointer && v.Kind() != reflect.Interface) || v.IsNil() {
			break
		}
		v = v.Elem()
	}
	return v
}

// fieldOf returns the struct field with this JSON or Go name, or an invalid value.
func fieldOf(value reflect.Value, name string) reflect.Value {
	if field := taggedField(value, name); field.IsValid() {
		return field
	}
	info, ok := value.Type().FieldByName(name)
	if !ok || !info.IsExported() {
		return reflect.Value{}
	}
	field, err := value.FieldByIndexErr(info.Index)
	if err != nil { // the field is in an embedded struct behind a nil pointer
		return reflect.Value{}
	}
	return field
}

// taggedField returns the field with this JSON name. It also searches inlined structs.
func taggedField(value reflect.Value, name string) reflect.Value {
	for i := range value.NumField() {
		info := value.Type().Field(i)
		tag, options, _ := strings.Cut(info.Tag.Get("json"), ",")
		if tag == name && tag != "" && info.IsExported() {
			return value.Field(i)
		}
		if tag == "" && (info.Anonymous || strings.Contains(options, "inline")) {
			inner := value.Field(i)
			if inner.Kind() == reflect.Pointer {
				inner = inner.Elem()
			}
			if inner.Kind() == reflect.Struct {
				if field := taggedField(inner, name); field.IsValid() {
					return field
				}
			}
		}
	}
	return reflect.Value{}
}

// children returns the elements, values or fields of the value that v holds or points to.
func children(v reflect.Value) (found []reflect.Value) {
	v = indirect(v)
	switch v.Kind() {
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			found = append(found, v.Index(i))
		}
	case reflect.Map:
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		for _, key := range keys {
			found = append(found, v.MapIndex(key))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				found = append(found, v.Field(i))
			}
		}
	}
	return found
}

// descend appends v and the values inside it to found. It appends structs, maps, lists and strings
// that are not empty, but not numbers, booleans and nulls.
func descend(found []reflect.Value, v reflect.Value, depth int) (_ []reflect.Value, err error) {
	if depth > maxDepth {
		return nil, errors.New("the data is too deep")
	}
	size := 0
	switch v = indirect(v); v.Kind() {
	case reflect.Struct:
		size = v.NumField()
	case reflect.Map, reflect.Slice, reflect.Array, reflect.String:
		size = v.Len()
	}
	if size == 0 {
		return found, nil
	}
	found = append(found, v)
	for _, child := range children(v) {
		if found, err = descend(found, child, depth+1); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// elements returns the elements of each value that params select.
func elements(values []reflect.Value, params [3]ParamsEntry) (found []reflect.Value, err error) {
	for _, value := range values {
		value = indirect(value)
		switch value.Kind() {
		case reflect.Slice, reflect.Array:
		case reflect.Invalid, reflect.Interface, reflect.Pointer: // null
			continue
		default:
			return nil, fmt.Errorf("%s is not array or slice", value.Type())
		}
		first, end, step, err := bounds(params, value.Len())
		if err != nil {
			return nil, err
		}
		for i := first; i < end; i += step {
			found = append(found, value.Index(i))
			if step >= end-i { // a large step must not overflow
				break
			}
		}
	}
	return found, nil
}

// bounds returns the indexes that params select in a slice of this length. The selection ends
// before the index end.
func bounds(params [3]ParamsEntry, length int) (first, end, step int, err error) {
	end, step = length, 1
	if p := params[0]; p.Known {
		first = p.Value
		if first < 0 {
			first += length
		}
	}
	if p := params[1]; p.Known {
		end = p.Value
		if end < 0 || (end == 0 && p.Derived) {
			end += length
		}
	}
	if first == end {
		return first, end, step, nil // nothing is selected, so out of bounds is not an error
	}
	switch {
	case first < 0 || first >= length:
		return 0, 0, 0, fmt.Errorf("array index out of bounds: index %d, length %d", first, length)
	case end < 0 || end > length:
		return 0, 0, 0, fmt.Errorf("array index out of bounds: index %d, length %d", end-1, length)
	case first > end:
		return 0, 0, 0, fmt.Errorf("starting index %d is greater than ending index %d", first, end)
	}
	if p := params[2]; p.Known {
		if step = p.Value; step <= 0 {
			return 0, 0, 0, errors.New("step must be > 0")
		}
	}
	return first, end, step, nil
}

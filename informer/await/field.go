package await

import (
	"reflect"
	"strings"
)

// field finds a field of an object by its path in JSON, whether the object is a Go struct or
// unstructured. It returns the zero Value if there is no such field.
func field(object any, path ...string) reflect.Value {
	value := reflect.ValueOf(object)
	if u, ok := object.(interface{ UnstructuredContent() map[string]any }); ok && value.IsValid() && !value.IsZero() {
		value = reflect.ValueOf(u.UnstructuredContent())
	}
	for _, name := range path {
		value = step(value, name)
	}
	return concrete(value)
}

// step returns the field of a struct or a map that has this name in JSON.
func step(value reflect.Value, name string) reflect.Value {
	switch value = concrete(value); value.Kind() {
	case reflect.Map:
		if value.Type().Key().Kind() != reflect.String {
			return reflect.Value{}
		}
		return value.MapIndex(reflect.ValueOf(name).Convert(value.Type().Key()))
	case reflect.Struct:
		for i := range value.NumField() {
			f := value.Type().Field(i)
			tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if f.IsExported() && (tag == name || tag == "" && strings.EqualFold(f.Name, name)) {
				return value.Field(i)
			}
		}
	}
	return reflect.Value{}
}

// concrete returns the value behind a pointer or an interface.
func concrete(value reflect.Value) reflect.Value {
	for value.Kind() == reflect.Pointer || value.Kind() == reflect.Interface {
		value = value.Elem()
	}
	return value
}

func text(value reflect.Value) string {
	if value = concrete(value); value.Kind() == reflect.String {
		return value.String()
	}
	return ""
}

func number(value reflect.Value) (int64, bool) {
	switch value = concrete(value); {
	case !value.IsValid():
		return 0, false
	case value.CanInt():
		return value.Int(), true
	case value.CanFloat():
		return int64(value.Float()), true
	}
	return 0, false
}

//go:build !kinform_no_openapi

package protobuf

import (
	"fmt"
	"reflect"
)

// encode calls the object's own method Marshal, which takes a third of the time of [Marshal]. This
// costs no space: Google's protobuf library already makes the linker keep the method for all types.
// The linker then drops [Marshal].
func encode(object any) ([]byte, error) {
	v, err := structOf(object)
	if err != nil {
		return nil, err
	}
	m, has := object.(interface{ Marshal() ([]byte, error) })
	if !has {
		return nil, notMarshalable{reflect.TypeOf(object)}
	}
	if !hasTags(v.Type()) {
		return nil, fmt.Errorf("%w: no field of %s has a protobuf tag", notMarshalable{reflect.TypeOf(object)}, v.Type())
	}
	return m.Marshal()
}

// hasTags reports whether a struct is a message. A struct that only embeds a message inherits its
// methods, which would encode a part of the object.
func hasTags(t reflect.Type) bool {
	for i := range t.NumField() {
		if _, has := t.Field(i).Tag.Lookup("protobuf"); has {
			return true
		}
	}
	return t.NumField() == 0
}

//go:build !kinform_no_openapi

package protobuf

import (
	"fmt"
	"reflect"
)

// encode calls the object's own method Marshal, which takes a third of the time of the function
// [Marshal]. This does not make the program larger: Google's protobuf library already makes the
// linker keep the method of all types. The linker drops the function [Marshal].
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

// hasTags reports whether a struct is a message. A struct that only embeds a message inherits the
// message's methods, which would encode only a part of the object.
func hasTags(t reflect.Type) bool {
	for i := range t.NumField() {
		if _, has := t.Field(i).Tag.Lookup("protobuf"); has {
			return true
		}
	}
	return t.NumField() == 0
}

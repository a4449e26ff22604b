//go:build !kinform_no_openapi

package protobuf

import (
	"fmt"
	"reflect"
)

// encode returns what an object's own method Marshal returns. That takes a third of the time that [Marshal] takes by tags, which the linker leaves out
// then. Google's protobuf library has the linker keep these methods of all types already, in each program that has a clientset.
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

// hasTags tells messages from structs that have the methods of a message because they embed it: those would write a part of the object.
func hasTags(t reflect.Type) bool {
	for i := range t.NumField() {
		if _, has := t.Field(i).Tag.Lookup("protobuf"); has {
			return true
		}
	}
	return t.NumField() == 0
}

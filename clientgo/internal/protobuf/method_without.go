//go:build kinform_no_openapi

package protobuf

// encode returns the message of an object by the tags of its fields: if the own method was called here, the linker would keep that method of all types.
func encode(object any) ([]byte, error) { return Marshal(object) }

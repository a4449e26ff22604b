//go:build kinform_no_openapi

package protobuf

// byMethod says that an object has no method of its own: if it were called here, the linker would keep that method of all types.
func byMethod(any) ([]byte, bool, error) { return nil, false, nil }

//go:build kinform_no_openapi

package protobuf

// encode encodes an object by its field tags. If it called the object's own method Marshal, the
// linker would keep this method of all types.
func encode(object any) ([]byte, error) { return Marshal(object) }

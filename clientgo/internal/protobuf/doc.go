// Package protobuf encodes and decodes the types of the Kubernetes API by their field tags.
//
// The types have methods Marshal and Unmarshal for this, and apimachinery's serializers call these
// methods through interfaces. If a method is called through an interface, the linker keeps the
// method of all linked types. For the groups of k8s.io/api this adds seven megabytes to a program
// with a single informer. In a program built with -tags=kinform_no_openapi, this package therefore
// does not call these methods, and must not name an interface that has them. In any other program,
// Google's protobuf library makes the linker keep the methods anyway. So there, objects are encoded
// by their own methods.
//
//   - [Marshal] returns the bytes that an object's own Marshal returns.
//   - [Serializer] replaces apimachinery's protobuf.Serializer, and [Raw] replaces its
//     protobuf.RawSerializer.
package protobuf

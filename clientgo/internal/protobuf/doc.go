// Package protobuf encodes and decodes the types of Kubernetes' API by the tags of their fields.
//
// Their own methods Marshal and Unmarshal do the same, and apimachinery's serializers call them through interfaces. But the linker
// keeps a method that is called through an interface of all types that are linked: those of all groups of k8s.io/api, seven
// megabytes in a program with a single informer. So nothing here calls them in a program that is built with -tags=kinform_no_openapi, and
// nothing here may name an interface that has them. In any other program, Google's protobuf library has the linker keep them, and objects are encoded by
// their own method.
//
//   - [Marshal] returns the bytes that an object's own Marshal returns.
//   - [Serializer] is apimachinery's protobuf.Serializer, and [Raw] its protobuf.RawSerializer.
package protobuf

// Package openapiv2 defines the type of the OpenAPI v2 document, in a way that allows programs to
// be built without this type.
//
// The document's type needs Google's protobuf library, which calls Marshal and Unmarshal through
// interfaces. The linker therefore keeps these methods for all types of k8s.io/api. This affects
// every program with a clientset, because DiscoveryInterface names the document's type. With
// -tags=kinform_no_openapi, DiscoveryInterface names another type, and the program is smaller by a
// third.
package openapiv2

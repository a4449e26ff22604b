// Package openapiv2 names the type of the OpenAPI v2 document, so that a program can be built
// without it.
//
// The document uses Google's protobuf library, which calls Marshal and Unmarshal through
// interfaces. The linker therefore keeps these methods for all types of k8s.io/api. This affects
// every program with a clientset, because DiscoveryInterface names the document. With
// -tags=kinform_no_openapi it names another type, and the program is smaller by a third.
package openapiv2

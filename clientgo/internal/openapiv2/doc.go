// Package openapiv2 names the type of the OpenAPI v2 document, so that a program can be built without it.
//
// The document is a type of Google's protobuf library, which calls methods Marshal and Unmarshal through interfaces. The linker keeps
// these methods of all types of k8s.io/api then, in each program that has a clientset, as DiscoveryInterface names the document. With
// -tags=kinform_no_openapi it names another type, and the program is smaller by a third.
package openapiv2

// Package openapi makes the OpenAPI documents of the API server of package apitest, versions 2 and
// 3, from the Go types of built-in resources and the schemas of CustomResourceDefinitions.
//
// [Documents] makes a document when it is first requested, and keeps it while the served resources
// stay the same. It is safe for concurrent use.
//
// # Limits
//
// The documents lack the allowed values of fields (enum).
package openapi

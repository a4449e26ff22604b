// Package jsonpath reads the values at a JSON path. It is for the API server of package apitest:
// the columns of a CustomResourceDefinition are JSON paths.
//
// A [Path] is safe for concurrent use, and a document without the path has no values.
package jsonpath

//go:build kinform_no_openapi

package openapiv2

import "errors"

// Document replaces the OpenAPI v2 document in a program built with -tags=kinform_no_openapi. It is
// always empty.
type Document struct{}

// Parse returns an error, because the program is built without the document type.
func Parse([]byte) (*Document, error) {
	return nil, errors.New("the OpenAPI v2 document cannot be read: the program is built with -tags=kinform_no_openapi")
}

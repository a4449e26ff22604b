//go:build kinform_no_openapi

package openapiv2

import "errors"

// Document takes the place of the OpenAPI v2 document in a program that is built with -tags=kinform_no_openapi. There is none.
type Document struct{}

// Parse returns an error: the program is built without the type of documents.
func Parse([]byte) (*Document, error) {
	return nil, errors.New("the OpenAPI v2 document cannot be read: the program is built with -tags=kinform_no_openapi")
}

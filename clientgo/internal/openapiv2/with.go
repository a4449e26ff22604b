//go:build !kinform_no_openapi

package openapiv2

import (
	openapi_v2 "github.com/google/gnostic-models/openapiv2"
	"google.golang.org/protobuf/proto"
)

// Document is the OpenAPI v2 document of a server.
type Document = openapi_v2.Document

// Parse decodes a document from protobuf.
func Parse(body []byte) (*Document, error) {
	document := &Document{}
	if err := proto.Unmarshal(body, document); err != nil {
		return nil, err
	}
	return document, nil
}

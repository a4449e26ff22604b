// Package openapitest has OpenAPI v3 clients for tests.
package openapitest

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"

	"k8s.io/client-go/openapi"
)

// FakeClient returns what a test says.
type FakeClient struct {
	// PathsMap is what Paths returns.
	PathsMap map[string]openapi.GroupVersion
	// ForcedErr is the error of Paths.
	ForcedErr error
}

// NewFakeClient returns a client without documents, to which a test may add some.
func NewFakeClient() *FakeClient {
	return &FakeClient{PathsMap: map[string]openapi.GroupVersion{}}
}

// Paths returns PathsMap itself, or ForcedErr.
func (f FakeClient) Paths() (map[string]openapi.GroupVersion, error) {
	if f.ForcedErr != nil {
		return nil, f.ForcedErr
	}
	return f.PathsMap, nil
}

// FakeGroupVersion is a document of a test.
type FakeGroupVersion struct {
	// GVSpec is the document.
	GVSpec []byte
	// ForcedErr is the error of Schema.
	ForcedErr error
}

// Schema returns GVSpec, or ForcedErr. It has JSON only.
func (f FakeGroupVersion) Schema(contentType string) ([]byte, error) {
	if contentType != runtime.ContentTypeJSON {
		return nil, fmt.Errorf("application/json is only content type supported: %s", contentType)
	}
	if f.ForcedErr != nil {
		return nil, f.ForcedErr
	}
	return f.GVSpec, nil
}

// ServerRelativeURL returns "".
func (f FakeGroupVersion) ServerRelativeURL() string { return "" }

// Package openapitest has OpenAPI v3 clients for tests.
package openapitest

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"

	"k8s.io/client-go/openapi"
)

// FakeClient returns prepared results.
type FakeClient struct {
	// PathsMap is the result of Paths.
	PathsMap map[string]openapi.GroupVersion
	// ForcedErr is the error of Paths, if it is set.
	ForcedErr error
}

// NewFakeClient returns a client without documents. A test may add documents.
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

// FakeGroupVersion is a prepared document.
type FakeGroupVersion struct {
	// GVSpec is the document.
	GVSpec []byte
	// ForcedErr is the error of Schema, if it is set.
	ForcedErr error
}

// Schema returns GVSpec, or ForcedErr. It supports only JSON.
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

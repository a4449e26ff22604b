//go:build !kinform_no_openapi

package openapi

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// NewTypeConverter requests all documents, and returns a converter for the types that they
// describe. Server-side apply uses this converter. If preserveUnknownFields is true, the converter
// keeps fields that a type does not describe.
func NewTypeConverter(client Client, preserveUnknownFields bool) (managedfields.TypeConverter, error) {
	paths, err := client.Paths()
	if err != nil {
		return nil, fmt.Errorf("failed to list available paths: %w", err)
	}
	types := map[string]*spec.Schema{}
	for path, gv := range paths {
		body, err := gv.Schema("application/json")
		if err != nil {
			return nil, fmt.Errorf("failed to download schema for path %q: %w", path, err)
		}
		var document spec3.OpenAPI
		if err := json.Unmarshal(body, &document); err != nil {
			return nil, fmt.Errorf("failed to parse schema for path %q: %w", path, err)
		}
		if document.Components == nil {
			continue
		}
		for name, schema := range document.Components.Schemas {
			types[name] = schema
		}
	}
	return managedfields.NewTypeConverter(types, preserveUnknownFields)
}

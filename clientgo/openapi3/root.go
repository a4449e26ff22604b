// Package openapi3 decodes the OpenAPI v3 documents of an API server.
package openapi3

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/spec3"

	"k8s.io/client-go/openapi"
)

// Root requests and decodes documents. It caches nothing. To cache documents, pass a client of
// package openapi/cached to NewRoot.
type Root interface {
	// GroupVersions returns the group versions that have a document, sorted by name.
	GroupVersions() ([]schema.GroupVersion, error)
	// GVSpec returns the document of a group version. If the group version has no document, the
	// error is a *GroupVersionNotFoundError.
	GVSpec(gv schema.GroupVersion) (*spec3.OpenAPI, error)
	// GVSpecAsMap is GVSpec, but decodes the document into a map.
	GVSpecAsMap(gv schema.GroupVersion) (map[string]interface{}, error)
}

// GroupVersionNotFoundError is the error of a group version without a document.
type GroupVersionNotFoundError struct {
	gv schema.GroupVersion
}

// Error names the group version.
func (r *GroupVersionNotFoundError) Error() string {
	return fmt.Sprintf("GroupVersion (%v) not found as OpenAPI V3 path", r.gv)
}

type root struct{ client openapi.Client }

// NewRoot returns a Root that requests documents through client.
func NewRoot(client openapi.Client) Root { return &root{client: client} }

// GroupVersions implements Root.
func (r *root) GroupVersions() ([]schema.GroupVersion, error) {
	paths, err := r.client.Paths()
	if err != nil {
		return nil, err
	}
	found := make([]schema.GroupVersion, 0, len(paths))
	for path := range paths {
		if gv, ok := groupVersionOf(path); ok {
			found = append(found, gv)
		}
	}
	slices.SortFunc(found, func(a, b schema.GroupVersion) int { return strings.Compare(a.String(), b.String()) })
	return found, nil
}

// groupVersionOf parses a path such as "apis/apps/v1" or "api/v1". It returns false for other
// paths, such as "version".
func groupVersionOf(path string) (schema.GroupVersion, bool) {
	switch segments := strings.Split(path, "/"); {
	case len(segments) == 3 && segments[0] == "apis":
		return schema.GroupVersion{Group: segments[1], Version: segments[2]}, true
	case len(segments) == 2 && segments[0] == "api":
		return schema.GroupVersion{Version: segments[1]}, true
	}
	return schema.GroupVersion{}, false
}

func pathOf(gv schema.GroupVersion) string {
	if gv.Group == "" {
		return "api/" + gv.Version
	}
	return "apis/" + gv.Group + "/" + gv.Version
}

// read decodes the document of a group version.
func (r *root) read(gv schema.GroupVersion, into any) error {
	paths, err := r.client.Paths()
	if err != nil {
		return err
	}
	document, ok := paths[pathOf(gv)]
	if !ok {
		return &GroupVersionNotFoundError{gv: gv}
	}
	body, err := document.Schema(runtime.ContentTypeJSON)
	if err != nil {
		return err
	}
	return json.Unmarshal(body, into)
}

// GVSpec implements Root.
func (r *root) GVSpec(gv schema.GroupVersion) (*spec3.OpenAPI, error) {
	document := &spec3.OpenAPI{}
	if err := r.read(gv, document); err != nil {
		return nil, err
	}
	return document, nil
}

// GVSpecAsMap implements Root.
func (r *root) GVSpecAsMap(gv schema.GroupVersion) (map[string]interface{}, error) {
	document := map[string]interface{}{}
	if err := r.read(gv, &document); err != nil {
		return nil, err
	}
	return document, nil
}

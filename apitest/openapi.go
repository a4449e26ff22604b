package apitest

import (
	"fmt"
	"hash/fnv"
	"strings"
)

// The OpenAPI documents have one purpose: kubectl reads in them that the server
// checks fields itself (the parameter fieldValidation), and then sends objects
// without knowing their schema.

// openAPIIndex lists the documents, one for each group version.
func openAPIIndex(all []*resource) any {
	paths := map[string]any{}
	for _, res := range all {
		path := res.path()
		// The hash tells clients that cache documents when one has changed.
		hash := fnv.New64a()
		_, _ = hash.Write(mustJSON(openAPIDocument(all, path)))
		paths[path] = map[string]string{
			"serverRelativeURL": fmt.Sprintf("/openapi/v3/%s?hash=%x", path, hash.Sum64()),
		}
	}
	return map[string]any{"paths": paths}
}

// openAPIDocument describes the resources of one group version, such as
// "apis/apps/v1"; it is nil if there are none.
func openAPIDocument(all []*resource, groupVersion string) any {
	paths := map[string]any{}
	for _, res := range all {
		if res.path() != groupVersion {
			continue
		}
		path := "/" + groupVersion
		if !res.ClusterScoped {
			path += "/namespaces/{namespace}"
		}
		paths[path+"/"+res.Plural+"/{name}"] = map[string]any{"patch": map[string]any{
			"x-kubernetes-action": "patch",
			"x-kubernetes-group-version-kind": map[string]string{
				"group": res.Group, "version": res.Version, "kind": res.Kind,
			},
			"parameters": []any{map[string]any{
				"name": "fieldValidation", "in": "query", "schema": map[string]any{"type": "string"},
			}},
			"responses": map[string]any{"200": map[string]any{"description": "OK"}},
		}}
	}
	if len(paths) == 0 {
		return nil
	}
	return map[string]any{
		"openapi": "3.0.0",
		"info":    map[string]string{"title": "apitest", "version": "v1"},
		"paths":   paths,
	}
}

// path is the beginning of the paths of the resource's group version.
func (r *resource) path() string {
	if r.Group == "" {
		return "api/" + r.Version
	}
	return strings.Join([]string{"apis", r.Group, r.Version}, "/")
}

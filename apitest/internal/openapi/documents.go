package openapi

import (
	"fmt"
	"hash/fnv"
	"reflect"
	"strings"
	"sync"

	"github.com/kinform/kinform/apitest/internal/apiobject"
	"github.com/kinform/kinform/apitest/internal/storage"
	"github.com/kinform/kinform/apitest/internal/wire"
)

// The OpenAPI documents describe the fields of types. "kubectl explain" uses them, and so does
// kubectl when it computes patches. The documents contain the parameter fieldValidation, which
// means that the server validates fields. So kubectl sends objects without validating them itself.

// Documents makes documents, and caches the requested documents, because they are slow to make.
type Documents struct {
	docs func(reflect.Type) map[string]string

	mu        sync.Mutex // guards following
	documents map[string][]byte
}

// New returns documents that describe the fields of a type by the function docs, which may be nil:
// see Options.FieldDocs in package apitest.
func New(docs func(reflect.Type) map[string]string) *Documents { return &Documents{docs: docs} }

// cached returns the document with this name for this state of the served resources. It builds the
// document at the first call, and drops documents of older states.
func (o *Documents) cached(name, state string, build func() []byte) []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	if doc, ok := o.documents[name+" "+state]; ok {
		return doc
	}
	for key := range o.documents {
		if strings.HasPrefix(key, name+" ") {
			delete(o.documents, key)
		}
	}
	if o.documents == nil {
		o.documents = map[string][]byte{}
	}
	doc := build()
	o.documents[name+" "+state] = doc
	return doc
}

// schemaHash is a hash of the served resources of a group version, or of all resources if
// groupVersion is "". Clients that cache a document compare the hash to notice changes.
func schemaHash(all []*storage.Resource, groupVersion string) string {
	hash := fnv.New64a()
	for _, res := range all {
		if groupVersion == "" || groupVersionPath(res) == groupVersion {
			fmt.Fprintln(hash, groupVersionPath(res), res.Plural, res.Kind, res.ClusterScoped)
			if res.CRDVersion.Schema.OpenAPIV3Schema != nil {
				_, _ = hash.Write(apiobject.MustJSON(res.CRDVersion.Schema.OpenAPIV3Schema))
			}
		}
	}
	return fmt.Sprintf("%x", hash.Sum64())
}

// Index lists the documents of version 3, one for each group version.
func Index(all []*storage.Resource) any {
	paths := apiobject.Document{}
	for _, res := range all {
		if path := groupVersionPath(res); paths[path] == nil {
			paths[path] = map[string]string{"serverRelativeURL": "/openapi/v3/" + path + "?hash=" + schemaHash(all, path)}
		}
	}
	return apiobject.Document{"paths": paths}
}

// V3 describes the resources of one group version, such as "apis/apps/v1". It returns nil if
// the group version has no resources.
func (o *Documents) V3(all []*storage.Resource, groupVersion string) []byte {
	of := inGroupVersion(all, groupVersion)
	if len(of) == 0 {
		return nil
	}
	return o.cached(groupVersion, schemaHash(of, ""), func() []byte {
		from := &schemas{v3: true, docs: o.docs, all: apiobject.Document{}}
		return apiobject.MustJSON(apiobject.Document{
			"openapi":    "3.0.0",
			"info":       info,
			"paths":      paths(of, from, func(schema apiobject.Document) apiobject.Document { return apiobject.Document{"schema": schema} }),
			"components": apiobject.Document{"schemas": from.all},
		})
	})
}

// V2 returns the single document of version 2, and its Content-Type. The Accept header chooses JSON
// or protobuf.
func (o *Documents) V2(all []*storage.Resource, accept string) (contentType string, body []byte) {
	const proto = "application/com.github.proto-openapi.spec.v2"
	in := wire.JSONType
	for clause := range strings.SplitSeq(accept, ",") {
		if strings.HasPrefix(strings.TrimSpace(clause), proto) {
			in = proto + ".v1.0+protobuf"
			break
		}
		if strings.HasPrefix(strings.TrimSpace(clause), wire.JSONType) {
			break
		}
	}
	body = o.cached("v2 "+in, schemaHash(all, ""), func() []byte {
		from := &schemas{docs: o.docs, all: apiobject.Document{}}
		doc := apiobject.Document{
			"swagger": "2.0", "info": info,
			"paths":       paths(all, from, func(schema apiobject.Document) apiobject.Document { return schema }),
			"definitions": from.all,
		}
		if in == wire.JSONType {
			return apiobject.MustJSON(doc)
		}
		return protoOpenAPI(doc)
	})
	return in, body
}

var info = apiobject.Document{"title": "Kubernetes", "version": "v1.37.2+apitest"}

func inGroupVersion(all []*storage.Resource, groupVersion string) (of []*storage.Resource) {
	for _, res := range all {
		if groupVersionPath(res) == groupVersion {
			of = append(of, res)
		}
	}
	return of
}

// paths returns the paths of group versions, lists and single objects. It adds the schemas
// of the resources' types to from. The function typed adds a type to the description of a
// parameter, in the form of the OpenAPI version.
func paths(all []*storage.Resource, from *schemas, typed func(apiobject.Document) apiobject.Document) apiobject.Document {
	paths, found := apiobject.Document{}, apiobject.Document{"description": "OK"}
	for _, res := range all {
		from.resource(res)
		path := "/" + groupVersionPath(res)
		if !res.ClusterScoped {
			path += "/namespaces/{namespace}"
		}
		operation := func(action string, parameters ...any) apiobject.Document {
			return apiobject.Document{
				"x-kubernetes-action":             action,
				"x-kubernetes-group-version-kind": apiobject.Document{"group": res.Group, "version": res.Version, "kind": res.Kind},
				"parameters":                      parameters,
				"responses":                       apiobject.Document{"200": found},
			}
		}
		validation := typed(apiobject.Document{"type": "string"})
		validation["name"], validation["in"] = "fieldValidation", "query"
		paths["/"+groupVersionPath(res)+"/"] = apiobject.Document{"get": apiobject.Document{"responses": apiobject.Document{"200": found}}}
		paths["/"+groupVersionPath(res)+"/"+res.Plural] = apiobject.Document{"get": operation("list")}
		paths[path+"/"+res.Plural] = apiobject.Document{"get": operation("list"), "post": operation("post", validation)}
		paths[path+"/"+res.Plural+"/{name}"] = apiobject.Document{
			"get": operation("get"), "put": operation("put", validation), "patch": operation("patch", validation),
		}
	}
	return paths
}

// groupVersionPath returns the common prefix of all paths in the resource's group version.
func groupVersionPath(r *storage.Resource) string {
	if r.Group == "" {
		return "api/" + r.Version
	}
	return strings.Join([]string{"apis", r.Group, r.Version}, "/")
}

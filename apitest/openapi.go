package apitest

import (
	"fmt"
	"hash/fnv"
	"net/http"
	"strings"
	"sync"

	"github.com/kinform/kinform/apitest/internal/apiobject"
)

// The OpenAPI documents describe the fields of types. "kubectl explain" uses them, and so does
// kubectl when it computes patches. The documents contain the parameter fieldValidation, which
// means that the server validates fields. So kubectl sends objects without validating them itself.

// openAPI caches the requested documents, because they are slow to make.
type openAPI struct {
	mu        sync.Mutex // guards following
	documents map[string][]byte
}

// cached returns the document with this name for this state of the served resources. It builds the
// document at the first call, and drops documents of older states.
func (o *openAPI) cached(name, state string, build func() []byte) []byte {
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
func schemaHash(all []*resource, groupVersion string) string {
	hash := fnv.New64a()
	for _, res := range all {
		if groupVersion == "" || res.path() == groupVersion {
			fmt.Fprintln(hash, res.path(), res.Plural, res.Kind, res.ClusterScoped)
			if res.crdVersion.Schema.OpenAPIV3Schema != nil {
				_, _ = hash.Write(apiobject.MustJSON(res.crdVersion.Schema.OpenAPIV3Schema))
			}
		}
	}
	return fmt.Sprintf("%x", hash.Sum64())
}

// openAPIIndex lists the documents of version 3, one for each group version.
func openAPIIndex(all []*resource) any {
	paths := document{}
	for _, res := range all {
		if path := res.path(); paths[path] == nil {
			paths[path] = map[string]string{"serverRelativeURL": "/openapi/v3/" + path + "?hash=" + schemaHash(all, path)}
		}
	}
	return document{"paths": paths}
}

// openAPIv3 describes the resources of one group version, such as "apis/apps/v1". It returns nil if
// the group version has no resources.
func (s *Server) openAPIv3(all []*resource, groupVersion string) []byte {
	of := inGroupVersion(all, groupVersion)
	if len(of) == 0 {
		return nil
	}
	return s.openAPI.cached(groupVersion, schemaHash(of, ""), func() []byte {
		from := &schemas{v3: true, docs: s.opts.FieldDocs, all: document{}}
		return apiobject.MustJSON(document{
			"openapi":    "3.0.0",
			"info":       openAPIInfo,
			"paths":      openAPIPaths(of, from, func(schema document) document { return document{"schema": schema} }),
			"components": document{"schemas": from.all},
		})
	})
}

// openAPIv2 responds with the single document of version 2, in JSON or protobuf.
func (s *Server) openAPIv2(w http.ResponseWriter, r *http.Request, all []*resource) {
	const proto = "application/com.github.proto-openapi.spec.v2"
	in := jsonType
	for clause := range strings.SplitSeq(r.Header.Get("Accept"), ",") {
		if strings.HasPrefix(strings.TrimSpace(clause), proto) {
			in = proto + ".v1.0+protobuf"
			break
		}
		if strings.HasPrefix(strings.TrimSpace(clause), jsonType) {
			break
		}
	}
	body := s.openAPI.cached("v2 "+in, schemaHash(all, ""), func() []byte {
		from := &schemas{docs: s.opts.FieldDocs, all: document{}}
		doc := document{
			"swagger": "2.0", "info": openAPIInfo,
			"paths":       openAPIPaths(all, from, func(schema document) document { return schema }),
			"definitions": from.all,
		}
		if in == jsonType {
			return apiobject.MustJSON(doc)
		}
		return protoOpenAPI(doc)
	})
	w.Header().Set("Content-Type", in)
	_, _ = w.Write(body)
}

var openAPIInfo = document{"title": "Kubernetes", "version": "v1.37.2+apitest"}

func inGroupVersion(all []*resource, groupVersion string) (of []*resource) {
	for _, res := range all {
		if res.path() == groupVersion {
			of = append(of, res)
		}
	}
	return of
}

// openAPIPaths returns the paths of group versions, lists and single objects. It adds the schemas
// of the resources' types to from. The function typed adds a type to the description of a
// parameter, in the form of the OpenAPI version.
func openAPIPaths(all []*resource, from *schemas, typed func(document) document) document {
	paths, found := document{}, document{"description": "OK"}
	for _, res := range all {
		from.resource(res)
		path := "/" + res.path()
		if !res.ClusterScoped {
			path += "/namespaces/{namespace}"
		}
		operation := func(action string, parameters ...any) document {
			return document{
				"x-kubernetes-action":             action,
				"x-kubernetes-group-version-kind": document{"group": res.Group, "version": res.Version, "kind": res.Kind},
				"parameters":                      parameters,
				"responses":                       document{"200": found},
			}
		}
		validation := typed(document{"type": "string"})
		validation["name"], validation["in"] = "fieldValidation", "query"
		paths["/"+res.path()+"/"] = document{"get": document{"responses": document{"200": found}}}
		paths["/"+res.path()+"/"+res.Plural] = document{"get": operation("list")}
		paths[path+"/"+res.Plural] = document{"get": operation("list"), "post": operation("post", validation)}
		paths[path+"/"+res.Plural+"/{name}"] = document{
			"get": operation("get"), "put": operation("put", validation), "patch": operation("patch", validation),
		}
	}
	return paths
}

// path returns the common prefix of all paths in the resource's group version.
func (r *resource) path() string {
	if r.Group == "" {
		return "api/" + r.Version
	}
	return strings.Join([]string{"apis", r.Group, r.Version}, "/")
}

package apitest

import (
	"net/http"
	"net/url"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/apitest/internal/storage"
	"github.com/kinform/kinform/apitest/internal/wire"
)

// Request is the request of a client. [Options].OnRequest and faults get it.
type Request struct {
	// Verb is get, list, watch, create, update, patch, delete or deletecollection. For a path that
	// names no resource, Verb is "discovery". Verb is "" if the resource does not support the HTTP
	// method.
	Verb string

	// Group, Version and Resource name the resource. Resource is the plural.
	Group, Version, Resource string

	// Namespace is "" for all namespaces and for cluster-scoped resources. Name is "" for a
	// collection. Subresource is the path after the name, such as "status" or "eviction".
	Namespace, Name, Subresource string

	// HTTP is the original request. The request is read-only, and its body must not be read.
	HTTP *http.Request

	query   url.Values
	res     *storage.Resource // nil if the resource is not served
	effects *effects
	user    User // the authenticated client
}

func (r *Request) key() types.NamespacedName {
	return types.NamespacedName{Namespace: r.Namespace, Name: r.Name}
}

// dryRun reports whether the request must not write anything.
func (r *Request) dryRun() bool { return r.query.Get("dryRun") == "All" }

// parseRequest parses the path of a Kubernetes request:
//
//	/api/v1/...                     the core group
//	/apis/<group>/<version>/...     every other group
//	.../<resource>[/<name>[/<subresource>]]
//	.../namespaces/<namespace>/<resource>[/<name>[/<subresource>]]
//
// It does not check that the resource exists. For all other paths, resourcePath is false.
func parseRequest(r *http.Request) (req Request, resourcePath bool) {
	req = Request{HTTP: r, query: r.URL.Query()}
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch {
	case len(parts) >= 3 && parts[0] == "api":
		req.Version, parts = parts[1], parts[2:]
	case len(parts) >= 4 && parts[0] == "apis":
		req.Group, req.Version, parts = parts[1], parts[2], parts[3:]
	default:
		req.Verb = "discovery"
		return req, false
	}
	// The path names a namespaced object, or a namespace itself: "namespaces/x/status" is the
	// status of the namespace x.
	if parts[0] == "namespaces" && len(parts) >= 3 && parts[2] != "status" && parts[2] != "finalize" {
		req.Namespace, parts = parts[1], parts[2:]
	}
	req.Resource = parts[0]
	if len(parts) > 1 {
		req.Name = parts[1]
	}
	if len(parts) > 2 {
		req.Subresource = strings.Join(parts[2:], "/")
	}
	req.Verb = verb(r.Method, req.Name != "", req.Subresource != "", boolParam(req.query, "watch"))
	return req, true
}

// verb returns the Kubernetes verb for an HTTP method on a named object or on a collection, or ""
// if there is no such verb.
func verb(method string, named, subresource, watch bool) string {
	switch method {
	case http.MethodGet, http.MethodHead:
		switch {
		case named:
			return "get"
		case watch:
			return "watch"
		}
		return "list"
	case http.MethodPost:
		if !named || subresource {
			return "create"
		}
	case http.MethodPut:
		if named {
			return "update"
		}
	case http.MethodPatch:
		if named {
			return "patch"
		}
	case http.MethodDelete:
		if named {
			return "delete"
		}
		return "deletecollection"
	}
	return ""
}

func (r *Request) groupVersionResource() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: r.Group, Version: r.Version, Resource: r.Resource}
}

// boolParam parses a boolean parameter. Clients write it as "1" or "true".
func boolParam(query url.Values, name string) bool {
	v := query.Get(name)
	return v == "true" || v == "1"
}

// negotiate returns the format of a response about the resource of a request.
func (r *Request) negotiate() (wire.Format, error) {
	f, ok := wire.Negotiate(r.HTTP.Header.Get("Accept"), r.res.Protobuf())
	if !ok {
		return f, wire.NewNotAcceptable(r.res)
	}
	f.Include = r.query.Get("includeObject")
	return f, nil
}

package apitest

import (
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kinform/kinform/apitest/internal/managedfields"
	"github.com/kinform/kinform/apitest/internal/crdschema"
)

// Resource describes a custom resource to serve. Group, Version, Plural and Kind
// are required.
type Resource struct {
	Group   string
	Version string

	// Plural is the name in URLs, such as "widgets".
	Plural string

	// Kind is the type's name in objects, such as "Widget".
	Kind string

	// Singular defaults to the Kind in lower case.
	Singular string

	// ShortNames and Categories are further names that discovery reports to kubectl.
	ShortNames []string
	Categories []string

	// ClusterScoped is set if objects have no namespace. Defaults to false: objects are namespaced.
	ClusterScoped bool

	// Status adds a status subresource. Writes to the main resource then do not change the status,
	// and writes to the subresource change nothing else. Defaults to false.
	Status bool

	// SelectableFields are the paths that field selectors may use, such as "spec.color". Selectors
	// may always use metadata.name and metadata.namespace.
	SelectableFields []string
}

// GroupVersionResource returns the name of the resource in the form that URLs have.
func (r Resource) GroupVersionResource() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: r.Group, Version: r.Version, Resource: r.Plural}
}

// resource is a served resource in one version. It is immutable, except for its collection of
// objects.
type resource struct {
	Resource

	// data holds the objects. All versions of a custom resource share data.
	data *collection

	gvk schema.GroupVersionKind

	// flags are the flags of a built-in type. They select its subresources except status.
	flags flags

	// goType is the struct of a built-in type. It is nil for custom resources, whose objects are
	// unstructured.
	goType reflect.Type

	// fieldNames and fieldValues are the names and values of the fields that selectors may use
	// besides name and namespace, in the same order.
	fieldNames  []string
	fieldValues func(Object) []string

	// handlePost handles a POST to a resource without stored objects: see [servePost]. It is nil
	// for all other resources.
	handlePost func(*Server, http.ResponseWriter, *Request) error

	// otherVersions has further versions that the resource decodes, because their objects have the
	// same form.
	otherVersions []schema.GroupVersion

	// crdName is the name of the CustomResourceDefinition that defines this resource, or "".
	// crdVersion is the CRD's entry for this version.
	crdName    string
	crdVersion crdVersion

	// schema is the schema by which objects are checked, or nil if the server does not check them.
	schema *crdschema.Schema

	// schemaMergeType describes how objects are merged, according to the CRD's schema. The method
	// mergeType sets it, once.
	schemaMergeType managedfields.Type
	schemaMergeOnce sync.Once

	// removed is closed when the resource is no longer served.
	removed chan struct{}
}

// collection holds the objects of a resource.
type collection struct { // guarded by store.mu
	objects sortedRevisions
	dropped bool // Writes are refused.
}

// newCustom checks the description of a custom resource, and makes the resource.
func newCustom(r Resource) (*resource, error) {
	if r.Group == "" || r.Version == "" || r.Plural == "" || r.Kind == "" {
		return nil, fmt.Errorf("custom resource %q: Group, Version, Plural and Kind are required, got %+v", r.Plural, r)
	}
	if r.Singular == "" {
		r.Singular = strings.ToLower(r.Kind)
	}
	res := &resource{
		Resource:   r,
		data:       &collection{},
		gvk:        schema.GroupVersionKind{Group: r.Group, Version: r.Version, Kind: r.Kind},
		fieldNames: r.SelectableFields,
		removed:    make(chan struct{}),
	}
	res.fieldValues = func(obj Object) []string {
		return pathValues(obj, r.SelectableFields)
	}
	return res, nil
}

// new returns an empty object of the resource's type. An object of a built-in type has no kind and
// apiVersion, but a custom resource has both.
func (r *resource) new() Object {
	if r.goType != nil {
		return reflect.New(r.goType).Interface().(Object)
	}
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(r.gvk)
	return u
}

// protobuf reports whether objects of the resource can be encoded in protobuf.
func (r *resource) protobuf() bool { return r.goType != nil }

// verbs returns the verbs that the resource supports.
func (r *resource) verbs() metav1.Verbs {
	if r.handlePost != nil {
		return metav1.Verbs{"create"}
	}
	if r.Group == "" && r.Plural == "namespaces" {
		return slices.DeleteFunc(slices.Clone(verbs), func(verb string) bool { return verb == "deletecollection" })
	}
	return verbs
}

func (r *resource) groupResource() schema.GroupResource {
	return schema.GroupResource{Group: r.Group, Resource: r.Plural}
}

// registry finds the served resources. It is guarded by store.mu.
type registry struct {
	all    []*resource // in the order of discovery
	byName map[schema.GroupVersionResource]*resource
	byKind map[schema.GroupVersionKind]*resource
}

func (g *registry) add(res *resource) error {
	name := res.GroupVersionResource()
	if g.byName[name] != nil || g.byKind[res.gvk] != nil {
		return fmt.Errorf("resource %s of kind %s is served already", name, res.gvk)
	}
	if g.byName == nil {
		g.byName = make(map[schema.GroupVersionResource]*resource)
		g.byKind = make(map[schema.GroupVersionKind]*resource)
	}
	g.all = append(g.all, res)
	g.byName[name] = res
	g.byKind[res.gvk] = res
	return nil
}

// remove stops serving a resource and ends its watches.
func (g *registry) remove(res *resource) {
	g.unlist(res)
	close(res.removed)
}

// unlist stops serving a resource, but does not end its watches.
func (g *registry) unlist(res *resource) {
	delete(g.byName, res.GroupVersionResource())
	delete(g.byKind, res.gvk)
	all := make([]*resource, 0, len(g.all)) // A new slice: readers may use the old one.
	for _, r := range g.all {
		if r != res {
			all = append(all, r)
		}
	}
	g.all = all
}

// clone returns a copy of the registry that shares the resources.
func (g *registry) clone() registry {
	return registry{all: slices.Clip(slices.Clone(g.all)), byName: maps.Clone(g.byName), byKind: maps.Clone(g.byKind)}
}

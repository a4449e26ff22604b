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

	// ShortNames and Categories are what discovery tells kubectl.
	ShortNames []string
	Categories []string

	// ClusterScoped says that objects have no namespace. Defaults to false:
	// objects are namespaced.
	ClusterScoped bool

	// Status says that there is a status subresource: then writes to the main
	// resource leave status alone, and writes to the subresource change nothing
	// else. Defaults to false.
	Status bool

	// SelectableFields are the paths, such as "spec.color", that field selectors
	// may name, beside metadata.name and metadata.namespace.
	SelectableFields []string
}

// GroupVersionResource names the resource as URLs do.
func (r Resource) GroupVersionResource() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: r.Group, Version: r.Version, Resource: r.Plural}
}

// resource is a resource that is served, in one version. It is immutable, but for
// the objects of its collection.
type resource struct {
	Resource

	// data holds the objects. Versions of a custom resource share it.
	data *collection

	gvk schema.GroupVersionKind

	// flags of a built-in type say which subresources there are beside status.
	flags flags

	// goType is the struct behind a built-in type, nil for custom resources, which
	// are held as unstructured.
	goType reflect.Type

	// fieldNames and fieldValues are what field selectors see of an object beside
	// its name and namespace, in the same order.
	fieldNames  []string
	fieldValues func(Object) []string

	// call answers what is posted, where nothing is stored: see [posted]. It is nil
	// where objects are.
	call func(*Server, http.ResponseWriter, *Request) error

	// also are versions whose objects are read as well, being the same.
	also []schema.GroupVersion

	// definition is the name of the CustomResourceDefinition that this resource
	// was made from, "" for others; defined is what that says of this version.
	definition string
	defined    definedVersion

	// schema is what objects are checked by, nil if they are not.
	schema *schemaProps

	// merged is how objects are merged by the schema of their definition, made when ofSchema is done:
	// see mergeType.
	merged   managedfields.Type
	ofSchema sync.Once

	// removed is closed when the resource is no longer served.
	removed chan struct{}
}

// collection is where the objects of a resource are.
type collection struct { // guarded by store.mu
	objects sorted
	dropped bool // nothing is written any more
}

// newCustom checks a description and makes a resource of it.
func newCustom(r Resource) (*resource, error) {
	if r.Group == "" || r.Version == "" || r.Plural == "" || r.Kind == "" {
		return nil, fmt.Errorf("custom resource %q: Group, Version, Plural and Kind are required, but it is %+v", r.Plural, r)
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

// new returns an empty object of the resource's type, without kind and
// apiVersion if the type is built in, with them otherwise.
func (r *resource) new() Object {
	if r.goType != nil {
		return reflect.New(r.goType).Interface().(Object)
	}
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(r.gvk)
	return u
}

// protobuf says whether objects of the resource can be written as protobuf.
func (r *resource) protobuf() bool { return r.goType != nil }

// verbs is what can be done with the resource.
func (r *resource) verbs() metav1.Verbs {
	if r.call != nil {
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

// registry finds the served resources. store.mu guards it.
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

// remove stops serving res and ends its watches.
func (g *registry) remove(res *resource) {
	g.forget(res)
	close(res.removed)
}

// forget stops serving res.
func (g *registry) forget(res *resource) {
	delete(g.byName, res.GroupVersionResource())
	delete(g.byKind, res.gvk)
	all := make([]*resource, 0, len(g.all)) // readers may hold the old slice
	for _, r := range g.all {
		if r != res {
			all = append(all, r)
		}
	}
	g.all = all
}

// clone returns a copy that shares the resources.
func (g *registry) clone() registry {
	return registry{all: slices.Clip(slices.Clone(g.all)), byName: maps.Clone(g.byName), byKind: maps.Clone(g.byKind)}
}

package storage

import (
	"fmt"
	"reflect"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kinform/kinform/apitest/internal/apiobject"
	"github.com/kinform/kinform/apitest/internal/crd"
	"github.com/kinform/kinform/apitest/internal/crdschema"
	"github.com/kinform/kinform/apitest/internal/managedfields"
)

// Description has the names and properties of a resource: see Resource in package apitest.
type Description struct {
	Group            string
	Version          string
	Plural           string
	Kind             string
	Singular         string
	ShortNames       []string
	Categories       []string
	ClusterScoped    bool
	Status           bool
	SelectableFields []string
}

// GroupVersionResource returns the name of the resource in the form that URLs have.
func (d Description) GroupVersionResource() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: d.Group, Version: d.Version, Resource: d.Plural}
}

// Resource is a served resource in one version. It is immutable, except for its collection of
// objects.
type Resource struct {
	Description

	// Data holds the objects. All versions of a custom resource share data.
	Data *Collection

	GVK schema.GroupVersionKind

	// Flags are the flags of a built-in type. They select its subresources except status.
	Flags Flags

	// GoType is the struct of a built-in type. It is nil for custom resources, whose objects are
	// unstructured.
	GoType reflect.Type

	// FieldNames and FieldValues are the names and values of the fields that selectors may use
	// besides name and namespace, in the same order.
	FieldNames  []string
	FieldValues func(apiobject.Object) []string

	// UnsupportedField is the text of the error for any other field. It contains %s for the field.
	// Defaults to "field label not supported: %s".
	UnsupportedField string

	// PostOnly is set for a resource without stored objects. Clients can only POST to it.
	PostOnly bool

	// OtherVersions has further versions that the resource decodes, because their objects have the
	// same form.
	OtherVersions []schema.GroupVersion

	// CRDName is the name of the CustomResourceDefinition that defines this resource, or "".
	// CRDVersion is the CRD's entry for this version.
	CRDName    string
	CRDVersion crd.Version

	// Schema is the schema by which objects are checked, or nil if the server does not check them.
	Schema *crdschema.Schema

	// schemaMergeType describes how objects are merged, according to the CRD's schema. The method
	// MergeType sets it, once.
	schemaMergeType managedfields.Type
	schemaMergeOnce sync.Once

	// Removed is closed when the resource is no longer served.
	Removed chan struct{}
}

// Collection holds the objects of a resource.
type Collection struct { // guarded by Store.mu
	objects SortedRevisions
	dropped bool // Writes are refused.
}

// NewCustom checks the description of a custom resource, and makes the resource.
func NewCustom(r Description) (*Resource, error) {
	if r.Group == "" || r.Version == "" || r.Plural == "" || r.Kind == "" {
		return nil, fmt.Errorf("custom resource %q: Group, Version, Plural and Kind are required, got %+v", r.Plural, r)
	}
	if r.Singular == "" {
		r.Singular = strings.ToLower(r.Kind)
	}
	res := &Resource{
		Description: r,
		Data:        &Collection{},
		GVK:         schema.GroupVersionKind{Group: r.Group, Version: r.Version, Kind: r.Kind},
		FieldNames:  r.SelectableFields,
		Removed:     make(chan struct{}),
	}
	res.FieldValues = func(obj apiobject.Object) []string {
		return pathValues(obj, r.SelectableFields)
	}
	return res, nil
}

// New returns an empty object of the resource's type. An object of a built-in type has no kind and
// apiVersion, but a custom resource has both.
func (r *Resource) New() apiobject.Object {
	if r.GoType != nil {
		return reflect.New(r.GoType).Interface().(apiobject.Object)
	}
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(r.GVK)
	return u
}

// Protobuf reports whether objects of the resource can be encoded in protobuf.
func (r *Resource) Protobuf() bool { return r.GoType != nil }

// GroupResource returns the name of the resource in the form that errors have.
func (r *Resource) GroupResource() schema.GroupResource {
	return schema.GroupResource{Group: r.Group, Resource: r.Plural}
}

// pathValues reads the fields at dotted paths from a custom resource. The value of a missing field
// is "".
func pathValues(obj apiobject.Object, paths []string) []string {
	values := make([]string, len(paths))
	for i, path := range paths {
		content := obj.(*unstructured.Unstructured).Object
		if v, found, err := unstructured.NestedFieldNoCopy(content, strings.Split(path, ".")...); found && err == nil {
			values[i] = fmt.Sprint(v)
		}
	}
	return values
}

package apitest

import (
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/version"

	"github.com/kinform/kinform/apitest/internal/apiobject"
	"github.com/kinform/kinform/apitest/internal/crd"
	"github.com/kinform/kinform/apitest/internal/crdschema"
	"github.com/kinform/kinform/apitest/internal/storage"
)

// customResourceDefinitions is the resource whose objects define resources.
var customResourceDefinitions = Resource{
	Group: crd.Kind.Group, Version: crd.Kind.Version, Plural: "customresourcedefinitions", Kind: crd.Kind.Kind,
	Categories: []string{"api-extensions"}, ShortNames: []string{"crd", "crds"}, ClusterScoped: true, Status: true,
}

// crdResourcesOf returns a resource for each served version. All of them have their objects in
// data. If checked is true, the server checks objects by the schema.
func crdResourcesOf(d crd.Definition, name string, data *storage.Collection, checked bool) (all []*storage.Resource, err error) {
	versions := slices.Clone(d.Spec.Versions)
	slices.SortStableFunc(versions, func(a, b crd.Version) int {
		return version.CompareKubeAwareVersionStrings(b.Name, a.Name)
	})
	for _, v := range versions {
		if !apiobject.Deref(v.Served, true) {
			continue
		}
		r := storage.Description{
			Group: d.Spec.Group, Version: v.Name, Plural: d.Spec.Names.Plural, Singular: d.Spec.Names.Singular, Kind: d.Spec.Names.Kind,
			ShortNames: d.Spec.Names.ShortNames, Categories: d.Spec.Names.Categories,
			ClusterScoped: d.Spec.Scope == "Cluster", Status: v.Subresources.Status != nil,
		}
		for _, f := range v.SelectableFields {
			// without the leading dot of the path
			r.SelectableFields = append(r.SelectableFields, f.JSONPath[min(1, len(f.JSONPath)):])
		}
		res, err := storage.NewCustom(r)
		if err != nil {
			return nil, err
		}
		res.CRDName, res.CRDVersion, res.Data = name, v, data
		if checked {
			if v.Schema.OpenAPIV3Schema == nil {
				return nil, errors.New("schemas are required: spec.versions[].schema.openAPIV3Schema")
			}
			if res.Schema, err = crdschema.Parse(v.Schema.OpenAPIV3Schema); err != nil {
				return nil, fmt.Errorf("version %s: %w", v.Name, err)
			}
		}
		all = append(all, res)
	}
	return all, nil
}

// putCRD stores a CustomResourceDefinition, and then serves its resources. It replaces the revision
// old, which is nil for a new CRD. putCRD sets the status at once. In a real cluster, controllers
// set it later. A dry run makes all checks and changes nothing.
func (s *Server) putCRD(definitions *storage.Resource, old *storage.Revision, obj Object, dryRun bool) (*storage.Revision, error) {
	s.crdMu.Lock()
	defer s.crdMu.Unlock()
	if s.store.Get(definitions, apiobject.Key(obj)) != old {
		return nil, storage.ErrStale
	}
	if old != nil && apiobject.Equal(apiobject.Spec(old.Object(), definitions.Status), apiobject.Spec(obj, definitions.Status)) {
		if dryRun {
			return s.dryRunResult(definitions, old, obj)
		}
		return s.store.Put(definitions, old, obj) // Only the status or the metadata changes.
	}
	before := s.store.ResourcesOfCRD(obj.GetName())
	after, d, err := crdResources(before, old, obj, s.opts.CheckSchemas)
	if err == nil {
		err = s.store.ReplaceResources(before, after, dryRun)
	}
	if err != nil {
		return nil, apierrors.NewInvalid(crd.Kind.GroupKind(), obj.GetName(), field.ErrorList{
			field.Invalid(field.NewPath("spec"), obj.GetName(), err.Error()),
		})
	}
	if dryRun {
		return s.dryRunResult(definitions, old, obj)
	}
	obj.(*unstructured.Unstructured).Object["status"] = d.EstablishedStatus()
	rev, err := s.store.Put(definitions, old, obj)
	if err != nil && old == nil {
		s.store.RemoveResources(after...)
	}
	if err == nil {
		err = s.register()
	}
	return rev, err
}

// crdResources returns the resources that a CustomResourceDefinition defines. They keep the stored
// objects. A version that has not changed keeps its resource.
func crdResources(before []*storage.Resource, old *storage.Revision, obj Object, checked bool) ([]*storage.Resource, crd.Definition, error) {
	d, err := crd.Parse(obj)
	if err != nil {
		return nil, d, err
	}
	data := &storage.Collection{}
	if old != nil {
		was, err := crd.Parse(old.Object())
		if err != nil {
			return nil, d, err
		}
		if was.Spec.Scope != d.Spec.Scope || was.Spec.Names.Kind != d.Spec.Names.Kind {
			return nil, d, errors.New("spec.scope and spec.names.kind: field is immutable")
		}
		d.Status = was.Status
	}
	if len(before) > 0 {
		data = before[0].Data
	}
	after, err := crdResourcesOf(d, obj.GetName(), data, checked)
	for i, res := range after {
		same := func(was *storage.Resource) bool {
			return apiobject.Equal(was.Description, res.Description) && apiobject.Equal(was.CRDVersion, res.CRDVersion)
		}
		if at := slices.IndexFunc(before, same); at >= 0 {
			after[i] = before[at]
		}
	}
	return after, d, err
}

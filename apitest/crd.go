package apitest

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/version"

	"github.com/kinform/kinform/apitest/internal/apiobject"
	"github.com/kinform/kinform/apitest/internal/crdschema"
	"github.com/kinform/kinform/apitest/internal/tables"
)

// customResourceDefinitions is the resource whose objects define resources.
var customResourceDefinitions = Resource{
	Group: "apiextensions.k8s.io", Version: "v1", Plural: "customresourcedefinitions", Kind: "CustomResourceDefinition",
	Categories: []string{"api-extensions"}, ShortNames: []string{"crd", "crds"}, ClusterScoped: true, Status: true,
}

var crdKind = schema.GroupVersionKind{
	Group: customResourceDefinitions.Group, Version: customResourceDefinitions.Version, Kind: customResourceDefinitions.Kind,
}

// crd has the fields of a CustomResourceDefinition that this server uses.
type crd struct {
	Spec struct {
		Group    string       `json:"group"`
		Scope    string       `json:"scope"`
		Names    crdNames     `json:"names"`
		Versions []crdVersion `json:"versions"`
	} `json:"spec"`
	Status struct {
		StoredVersions []string `json:"storedVersions"`
		Conditions     []any    `json:"conditions"`
	} `json:"status"`
}

// crdNames are the names of a custom resource.
type crdNames struct {
	Plural     string   `json:"plural"`
	Singular   string   `json:"singular,omitempty"`
	ShortNames []string `json:"shortNames,omitempty"`
	Kind       string   `json:"kind"`
	ListKind   string   `json:"listKind,omitempty"`
	Categories []string `json:"categories,omitempty"`
}

// crdVersion is one version of a custom resource.
type crdVersion struct {
	Name    string `json:"name"`
	Served  *bool  `json:"served"` // defaults to true
	Storage bool   `json:"storage"`
	Schema  struct {
		OpenAPIV3Schema map[string]any `json:"openAPIV3Schema"`
	} `json:"schema"`
	Subresources struct {
		Status *struct{}   `json:"status"`
		Scale  *scalePaths `json:"scale"`
	} `json:"subresources"`
	SelectableFields []struct {
		JSONPath string `json:"jsonPath"`
	} `json:"selectableFields"`
	AdditionalPrinterColumns []tables.Column `json:"additionalPrinterColumns"`
	Deprecated               bool            `json:"deprecated"`
	DeprecationWarning       *string         `json:"deprecationWarning"`
}

// parseCRD decodes and checks a CustomResourceDefinition, and sets its defaults.
func parseCRD(obj Object) (d crd, err error) {
	content := obj.(*unstructured.Unstructured).Object
	if err := apiobject.Remarshal(content, &d); err != nil {
		return d, err
	}
	names := &d.Spec.Names
	if names.Singular == "" {
		names.Singular = strings.ToLower(names.Kind)
	}
	if names.ListKind == "" {
		names.ListKind = names.Kind + "List"
	}
	storage := 0
	for i, v := range d.Spec.Versions {
		if v.Storage {
			storage++
		}
		if slices.ContainsFunc(d.Spec.Versions[:i], func(o crdVersion) bool { return o.Name == v.Name }) {
			return d, fmt.Errorf("spec.versions must not name %q twice", v.Name)
		}
	}
	want := names.Plural + "." + d.Spec.Group
	switch {
	case d.Spec.Group == "" || names.Plural == "" || names.Kind == "":
		return d, errors.New("spec.group, spec.names.plural and spec.names.kind are required")
	case obj.GetName() != want:
		return d, fmt.Errorf("metadata.name must be spec.names.plural.spec.group, %q", want)
	case storage != 1:
		return d, errors.New("must have exactly one version marked as storage version")
	}
	spec := content["spec"].(map[string]any)
	if spec["conversion"] == nil {
		spec["conversion"] = map[string]any{"strategy": "None"}
	}
	if given, ok := spec["names"].(map[string]any); ok {
		given["singular"], given["listKind"] = names.Singular, names.ListKind
	}
	return d, nil
}

// resources returns a resource for each served version. All of them have their objects in data. If
// checked is true, the server checks objects by the schema.
func (d crd) resources(name string, data *collection, checked bool) (all []*resource, err error) {
	versions := slices.Clone(d.Spec.Versions)
	slices.SortStableFunc(versions, func(a, b crdVersion) int {
		return version.CompareKubeAwareVersionStrings(b.Name, a.Name)
	})
	for _, v := range versions {
		if !apiobject.Deref(v.Served, true) {
			continue
		}
		r := Resource{
			Group: d.Spec.Group, Version: v.Name, Plural: d.Spec.Names.Plural, Singular: d.Spec.Names.Singular, Kind: d.Spec.Names.Kind,
			ShortNames: d.Spec.Names.ShortNames, Categories: d.Spec.Names.Categories,
			ClusterScoped: d.Spec.Scope == "Cluster", Status: v.Subresources.Status != nil,
		}
		for _, f := range v.SelectableFields {
			// without the leading dot of the path
			r.SelectableFields = append(r.SelectableFields, f.JSONPath[min(1, len(f.JSONPath)):])
		}
		res, err := newCustom(r)
		if err != nil {
			return nil, err
		}
		res.crdName, res.crdVersion, res.data = name, v, data
		if checked {
			if v.Schema.OpenAPIV3Schema == nil {
				return nil, errors.New("schemas are required: spec.versions[].schema.openAPIV3Schema")
			}
			if res.schema, err = crdschema.Parse(v.Schema.OpenAPIV3Schema); err != nil {
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
func (s *Server) putCRD(definitions *resource, old *revision, obj Object, dryRun bool) (*revision, error) {
	s.crdMu.Lock()
	defer s.crdMu.Unlock()
	if s.store.get(definitions, apiobject.Key(obj)) != old {
		return nil, errStale
	}
	if old != nil && apiobject.Equal(apiobject.Spec(old.object(), definitions.Status), apiobject.Spec(obj, definitions.Status)) {
		if dryRun {
			return s.dryRunResult(definitions, old, obj)
		}
		return s.store.put(definitions, old, obj) // Only the status or the metadata changes.
	}
	before := s.store.resourcesOfCRD(obj.GetName())
	after, d, err := crdResources(before, old, obj, s.opts.CheckSchemas)
	if err == nil {
		err = s.store.replaceResources(before, after, dryRun)
	}
	if err != nil {
		return nil, apierrors.NewInvalid(crdKind.GroupKind(), obj.GetName(), field.ErrorList{
			field.Invalid(field.NewPath("spec"), obj.GetName(), err.Error()),
		})
	}
	if dryRun {
		return s.dryRunResult(definitions, old, obj)
	}
	obj.(*unstructured.Unstructured).Object["status"] = d.establishedStatus()
	rev, err := s.store.put(definitions, old, obj)
	if err != nil && old == nil {
		s.store.removeResources(after...)
	}
	if err == nil {
		err = s.register()
	}
	return rev, err
}

// crdResources returns the resources that a CustomResourceDefinition defines. They keep the stored
// objects. A version that has not changed keeps its resource.
func crdResources(before []*resource, old *revision, obj Object, checked bool) ([]*resource, crd, error) {
	d, err := parseCRD(obj)
	if err != nil {
		return nil, d, err
	}
	data := &collection{}
	if old != nil {
		was, err := parseCRD(old.object())
		if err != nil {
			return nil, d, err
		}
		if was.Spec.Scope != d.Spec.Scope || was.Spec.Names.Kind != d.Spec.Names.Kind {
			return nil, d, errors.New("spec.scope and spec.names.kind: field is immutable")
		}
		d.Status = was.Status
	}
	if len(before) > 0 {
		data = before[0].data
	}
	after, err := d.resources(obj.GetName(), data, checked)
	for i, res := range after {
		same := func(was *resource) bool {
			return apiobject.Equal(was.Resource, res.Resource) && apiobject.Equal(was.crdVersion, res.crdVersion)
		}
		if at := slices.IndexFunc(before, same); at >= 0 {
			after[i] = before[at]
		}
	}
	return after, d, err
}

// establishedStatus returns the status of a CustomResourceDefinition whose resources are served.
func (d crd) establishedStatus() map[string]any {
	stored := slices.Clone(d.Status.StoredVersions)
	for _, v := range d.Spec.Versions {
		if v.Storage && !slices.Contains(stored, v.Name) {
			stored = append(stored, v.Name)
		}
	}
	conditions := d.Status.Conditions
	if len(conditions) == 0 {
		condition := func(kind, reason, message string) any {
			return map[string]any{
				"type": kind, "status": "True", "reason": reason, "message": message,
				"lastTransitionTime": apiobject.Now().UTC().Format("2006-01-02T15:04:05Z"),
			}
		}
		conditions = []any{
			condition("NamesAccepted", "NoConflicts", "no conflicts found"),
			condition("Established", "InitialNamesAccepted", "the initial names have been accepted"),
		}
	}
	var names map[string]any
	if err := apiobject.Remarshal(d.Spec.Names, &names); err != nil {
		panic("apitest: " + err.Error()) // cannot fail, because names are strings
	}
	return map[string]any{"acceptedNames": names, "storedVersions": toAny(stored), "conditions": conditions}
}

func toAny(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}

package apitest

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// customResourceDefinitions is the resource whose objects define resources.
var customResourceDefinitions = Resource{
	Group: "apiextensions.k8s.io", Version: "v1", Plural: "customresourcedefinitions", Kind: "CustomResourceDefinition",
	Categories: []string{"api-extensions"}, ShortNames: []string{"crd", "crds"}, ClusterScoped: true, Status: true,
}

var definitionKind = schema.GroupVersionKind{
	Group: customResourceDefinitions.Group, Version: customResourceDefinitions.Version, Kind: customResourceDefinitions.Kind,
}

// definition is what of a CustomResourceDefinition matters here.
type definition struct {
	Spec struct {
		Group string `json:"group"`
		Scope string `json:"scope"`
		Names struct {
			Plural     string   `json:"plural"`
			Singular   string   `json:"singular"`
			Kind       string   `json:"kind"`
			ShortNames []string `json:"shortNames"`
			Categories []string `json:"categories"`
		} `json:"names"`
		Versions []struct {
			Name         string `json:"name"`
			Storage      bool   `json:"storage"`
			Subresources struct {
				Status *struct{} `json:"status"`
			} `json:"subresources"`
			SelectableFields []struct {
				JSONPath string `json:"jsonPath"`
			} `json:"selectableFields"`
		} `json:"versions"`
	} `json:"spec"`
}

// defined makes the resource that a CustomResourceDefinition defines, in its
// storage version.
func defined(obj Object) (*resource, error) {
	var d definition
	if err := remarshal(obj.(*unstructured.Unstructured).Object, &d); err != nil {
		return nil, err
	}
	r := Resource{
		Group: d.Spec.Group, Plural: d.Spec.Names.Plural, Singular: d.Spec.Names.Singular, Kind: d.Spec.Names.Kind,
		ShortNames: d.Spec.Names.ShortNames, Categories: d.Spec.Names.Categories, ClusterScoped: d.Spec.Scope == "Cluster",
	}
	if want := r.Plural + "." + r.Group; obj.GetName() != want {
		return nil, fmt.Errorf("metadata.name must be spec.names.plural.spec.group, %q", want)
	}
	for _, v := range d.Spec.Versions {
		if !v.Storage {
			continue
		}
		r.Version, r.Status = v.Name, v.Subresources.Status != nil
		for _, f := range v.SelectableFields {
			r.SelectableFields = append(r.SelectableFields, f.JSONPath[min(1, len(f.JSONPath)):]) // without the leading dot
		}
	}
	res, err := newCustom(r)
	if err == nil {
		res.definition = obj.GetName()
	}
	return res, err
}

// define stores a CustomResourceDefinition and serves what it defines. What real
// controllers report on it later is reported at once.
func (s *Server) define(definitions *resource, old *revision, obj Object) (*revision, error) {
	s.defining.Lock()
	defer s.defining.Unlock()
	if s.store.get(definitions, keyOf(obj)) != old {
		return nil, errStale
	}
	res, err := defined(obj)
	if err == nil {
		err = s.store.serve(res)
	}
	if err != nil {
		return nil, apierrors.NewInvalid(definitionKind.GroupKind(), obj.GetName(), field.ErrorList{
			field.Invalid(field.NewPath("spec"), obj.GetName(), err.Error()),
		})
	}
	obj.(*unstructured.Unstructured).Object["status"] = established(res)
	rev, err := s.store.put(definitions, old, obj)
	if err != nil {
		s.store.drop(res)
	}
	return rev, err
}

// established is the status of a CustomResourceDefinition whose resource is
// served.
func established(res *resource) map[string]any {
	condition := func(kind, reason, message string) any {
		return map[string]any{
			"type": kind, "status": "True", "reason": reason, "message": message,
			"lastTransitionTime": now().UTC().Format("2006-01-02T15:04:05Z"),
		}
	}
	names := map[string]any{"plural": res.Plural, "singular": res.Singular, "kind": res.Kind, "listKind": res.Kind + "List"}
	if len(res.ShortNames) > 0 {
		names["shortNames"] = toAny(res.ShortNames)
	}
	return map[string]any{
		"acceptedNames":  names,
		"storedVersions": []any{res.Version},
		"conditions": []any{
			condition("NamesAccepted", "NoConflicts", "no conflicts found"),
			condition("Established", "InitialNamesAccepted", "the initial names have been accepted"),
		},
	}
}

func toAny(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}

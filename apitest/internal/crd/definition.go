package crd

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kinform/kinform/apitest/internal/apiobject"
	"github.com/kinform/kinform/apitest/internal/tables"
)

// Kind is the kind of a CustomResourceDefinition.
var Kind = schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}

// Definition has the fields of a CustomResourceDefinition that this server uses.
type Definition struct {
	Spec struct {
		Group    string    `json:"group"`
		Scope    string    `json:"scope"`
		Names    Names     `json:"names"`
		Versions []Version `json:"versions"`
	} `json:"spec"`
	Status struct {
		StoredVersions []string `json:"storedVersions"`
		Conditions     []any    `json:"conditions"`
	} `json:"status"`
}

// Names are the names of a custom resource.
type Names struct {
	Plural     string   `json:"plural"`
	Singular   string   `json:"singular,omitempty"`
	ShortNames []string `json:"shortNames,omitempty"`
	Kind       string   `json:"kind"`
	ListKind   string   `json:"listKind,omitempty"`
	Categories []string `json:"categories,omitempty"`
}

// Version is one version of a custom resource.
type Version struct {
	Name    string `json:"name"`
	Served  *bool  `json:"served"` // defaults to true
	Storage bool   `json:"storage"`
	Schema  struct {
		OpenAPIV3Schema map[string]any `json:"openAPIV3Schema"`
	} `json:"schema"`
	Subresources struct {
		Status *struct{}   `json:"status"`
		Scale  *ScalePaths `json:"scale"`
	} `json:"subresources"`
	SelectableFields []struct {
		JSONPath string `json:"jsonPath"`
	} `json:"selectableFields"`
	AdditionalPrinterColumns []tables.Column `json:"additionalPrinterColumns"`
	Deprecated               bool            `json:"deprecated"`
	DeprecationWarning       *string         `json:"deprecationWarning"`
}

// Parse decodes and checks a CustomResourceDefinition, and sets its defaults.
func Parse(obj apiobject.Object) (d Definition, err error) {
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
		if slices.ContainsFunc(d.Spec.Versions[:i], func(o Version) bool { return o.Name == v.Name }) {
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

// EstablishedStatus returns the status of a CustomResourceDefinition whose resources are served.
func (d Definition) EstablishedStatus() map[string]any {
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

package storage

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
)

// Selection selects the objects that a request is about.
type Selection struct {
	Namespace string // "" for all
	labels    labels.Selector
	fields    fields.Selector
}

// ParseSelection parses the selectors of a request. An unsupported field is a bad request.
func ParseSelection(res *Resource, namespace string, query url.Values) (Selection, error) {
	sel := Selection{Namespace: namespace}
	var err error
	if sel.labels, err = labels.Parse(query.Get("labelSelector")); err != nil {
		return sel, apierrors.NewBadRequest(err.Error())
	}
	if sel.fields, err = fields.ParseSelector(query.Get("fieldSelector")); err != nil {
		return sel, apierrors.NewBadRequest(err.Error())
	}
	for _, r := range sel.fields.Requirements() {
		if !res.selectable(r.Field) {
			return sel, apierrors.NewBadRequest(res.unsupportedFieldText(r.Field))
		}
	}
	return sel, nil
}

// selectable reports whether selectors for the resource can use a field. Types without selectable
// fields of their own accept metadata.namespace, even if they are cluster-scoped.
func (r *Resource) selectable(field string) bool {
	return field == "metadata.name" || field == "metadata.namespace" && (!r.ClusterScoped || r.onlyNameFields()) || slices.Contains(r.FieldNames, field)
}

// onlyNameFields reports whether the resource is built in and selectors can use only name and
// namespace.
func (r *Resource) onlyNameFields() bool { return r.GoType != nil && r.FieldNames == nil }

// unsupportedFieldText returns the error text for a field that selectors for the resource cannot
// use.
func (r *Resource) unsupportedFieldText(field string) string {
	if r.onlyNameFields() {
		return fmt.Sprintf(`%q is not a known field selector: only "metadata.name", "metadata.namespace"`, field)
	}
	return fmt.Sprintf(cmp.Or(r.UnsupportedField, "field label not supported: %s"), field)
}

// HasNoSelectors reports whether the selection has no label or field selectors.
func (s Selection) HasNoSelectors() bool { return s.labels.Empty() && s.fields.Empty() }

// Matches reports whether rev is selected. A nil rev never matches.
func (s Selection) Matches(rev *Revision) bool {
	return rev != nil &&
		(s.Namespace == "" || s.Namespace == rev.Key.Namespace) &&
		s.labels.Matches(rev.Labels) &&
		(s.fields.Empty() || s.fields.Matches(selectableFields{rev}))
}

// selectableFields gives selectors access to the fields of a revision.
type selectableFields struct{ *Revision }

func (f selectableFields) Has(field string) bool { return f.Res.selectable(field) }

func (f selectableFields) Get(field string) string {
	switch field {
	case "metadata.name":
		return f.Key.Name
	case "metadata.namespace":
		return f.Key.Namespace
	}
	if i := slices.Index(f.Res.FieldNames, field); i >= 0 {
		return f.fields[i]
	}
	return ""
}

package apitest

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
)

// selection selects the objects that a request is about.
type selection struct {
	namespace string // "" for all
	labels    labels.Selector
	fields    fields.Selector
}

// parseCollection parses a request for a collection. It returns the format of the response, and the
// selection.
func (r *Request) parseCollection() (format, selection, error) {
	f, err := r.negotiate()
	if err != nil {
		return f, selection{}, err
	}
	sel, err := parseSelection(r.res, r.Namespace, r.query)
	return f, sel, err
}

// parseSelection parses the selectors of a request. An unsupported field is a bad request.
func parseSelection(res *resource, namespace string, query url.Values) (selection, error) {
	sel := selection{namespace: namespace}
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
func (r *resource) selectable(field string) bool {
	return field == "metadata.name" || field == "metadata.namespace" && (!r.ClusterScoped || r.onlyNameFields()) || slices.Contains(r.fieldNames, field)
}

// onlyNameFields reports whether the resource is built in and selectors can use only name and
// namespace.
func (r *resource) onlyNameFields() bool { return r.goType != nil && r.fieldNames == nil }

// unsupportedFieldText returns the error text for a field that selectors for the resource cannot
// use.
func (r *resource) unsupportedFieldText(field string) string {
	if r.onlyNameFields() {
		return fmt.Sprintf(`%q is not a known field selector: only "metadata.name", "metadata.namespace"`, field)
	}
	return fmt.Sprintf(cmp.Or(builtinFields[r.goType].unsupportedText, "field label not supported: %s"), field)
}

// hasNoSelectors() reports whether the selection has no label or field selectors.
func (s selection) hasNoSelectors() bool { return s.labels.Empty() && s.fields.Empty() }

// matches reports whether rev is selected. A nil rev never matches.
func (s selection) matches(rev *revision) bool {
	return rev != nil &&
		(s.namespace == "" || s.namespace == rev.key.Namespace) &&
		s.labels.Matches(rev.labels) &&
		(s.fields.Empty() || s.fields.Matches(selectableFields{rev}))
}

// selectableFields gives selectors access to the fields of a revision.
type selectableFields struct{ *revision }

func (f selectableFields) Has(field string) bool { return f.res.selectable(field) }

func (f selectableFields) Get(field string) string {
	switch field {
	case "metadata.name":
		return f.key.Name
	case "metadata.namespace":
		return f.key.Namespace
	}
	if i := slices.Index(f.res.fieldNames, field); i >= 0 {
		return f.fields[i]
	}
	return ""
}

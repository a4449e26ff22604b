package informer

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/kinform/kinform/internal/contain"
	"github.com/kinform/kinform/listwatch"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Selection is the set of objects that an informer of a [Factory] has. A selection and the Go type
// of its objects identify an informer.
type Selection struct {
	// Resource is required.
	Resource schema.GroupVersionResource

	// Namespaces are the selected namespaces, in any order. Defaults to all; leave it empty for
	// cluster-scoped resources.
	Namespaces []string

	// LabelSelector and FieldSelector narrow the selection, in the API's own syntax.
	LabelSelector, FieldSelector string

	// Projection names the fields that the source or a transform removes from each object, such as
	// "metadata". A user that removes other fields needs another name, and gets another informer.
	Projection string
}

// Namespace returns the only namespace of a selection, or "". The selections that the factory
// passes to open have at most one namespace.
func (s Selection) Namespace() string {
	if len(s.Namespaces) == 1 {
		return s.Namespaces[0]
	}
	return ""
}

// String describes the selection, such as "pods in shop, labels app=web".
func (s Selection) String() string {
	text := s.Resource.Resource
	if s.Resource.Group != "" {
		text += "." + s.Resource.Version + "." + s.Resource.Group
	} else if s.Resource.Version != "v1" {
		text += "." + s.Resource.Version
	}
	if len(s.Namespaces) > 0 {
		text += " in " + strings.Join(s.Namespaces, "+")
	}
	for _, part := range []struct{ name, value string }{{"labels", s.LabelSelector}, {"fields", s.FieldSelector}, {"projection", s.Projection}} {
		if part.value != "" {
			text += ", " + part.name + " " + part.value
		}
	}
	return text
}

// normalized returns the selection with its namespaces sorted.
func (s Selection) normalized() (Selection, error) {
	s.Namespaces = slices.Compact(slices.Sorted(slices.Values(s.Namespaces)))
	switch {
	case s.Resource.Version == "" || s.Resource.Resource == "":
		return s, errors.New("informer: a Selection needs a Resource with version and name")
	case len(s.Namespaces) > 1 && s.Namespaces[0] == "":
		return s, errors.New(`informer: a Selection has either all namespaces, "", or some`)
	case len(s.Namespaces) == 1 && s.Namespaces[0] == "":
		s.Namespaces = nil
	}
	return s, nil
}

// key returns the identity of the informer for this selection. No namespace name contains "/".
func (s Selection) key(object reflect.Type) sharedKey {
	return sharedKey{s.Resource, strings.Join(s.Namespaces, "/"), s.LabelSelector, s.FieldSelector, s.Projection, object}
}

// openAll opens the source of each namespace, or one source for all.
func openAll[T any](s Selection, open func(Selection) (listwatch.Source[T], error)) (parts []listwatch.Source[T], err error) {
	for i := range max(len(s.Namespaces), 1) {
		single := s
		if len(s.Namespaces) > 0 {
			single.Namespaces = s.Namespaces[i : i+1 : i+1]
		}
		source, err := open(single)
		if err != nil {
			return nil, fmt.Errorf("informer: Acquire: open %v: %w", single, err)
		}
		if contain.IsNil(source) { // Otherwise Run would panic.
			return nil, fmt.Errorf("informer: Acquire: open returned no source for %v", single)
		}
		parts = append(parts, source)
	}
	return parts, nil
}

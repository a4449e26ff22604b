// Package selecting finds the objects whose selectors match the labels of another object.
package selecting

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// Owners returns the objects of a list whose selectors match the labels of an object. Empty and
// unparsable selectors match nothing. It returns an error if nothing matches.
func Owners[T any](what string, of metav1.Object, list func(labels.Selector) ([]*T, error), selectorOf func(*T) *metav1.LabelSelector) ([]*T, error) {
	if len(of.GetLabels()) == 0 {
		return nil, fmt.Errorf("no %s found for %s/%s because it has no labels", what, of.GetNamespace(), of.GetName())
	}
	return matching(what, of, list, selectorOf, false)
}

// OwnersOrAll is Owners, except that an empty selector matches everything.
func OwnersOrAll[T any](what string, of metav1.Object, list func(labels.Selector) ([]*T, error), selectorOf func(*T) *metav1.LabelSelector) ([]*T, error) {
	return matching(what, of, list, selectorOf, true)
}

func matching[T any](what string, of metav1.Object, list func(labels.Selector) ([]*T, error), selectorOf func(*T) *metav1.LabelSelector, emptyMatches bool) ([]*T, error) {
	all, err := list(labels.Everything())
	if err != nil {
		return nil, err
	}
	var found []*T
	for _, candidate := range all {
		selector, err := metav1.LabelSelectorAsSelector(selectorOf(candidate))
		if err == nil && (emptyMatches || !selector.Empty()) && selector.Matches(labels.Set(of.GetLabels())) {
			found = append(found, candidate)
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("no %s found for %s/%s with labels %v", what, of.GetNamespace(), of.GetName(), of.GetLabels())
	}
	return found, nil
}

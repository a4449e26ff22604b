package discovery

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// ResourcePredicate selects resources.
type ResourcePredicate interface {
	// Match reports whether a resource of a group version is selected.
	Match(groupVersion string, r *metav1.APIResource) bool
}

// ResourcePredicateFunc is a function that implements ResourcePredicate.
type ResourcePredicateFunc func(groupVersion string, r *metav1.APIResource) bool

// Match calls fn.
func (fn ResourcePredicateFunc) Match(groupVersion string, r *metav1.APIResource) bool {
	return fn(groupVersion, r)
}

// SupportsAllVerbs selects resources that support all of the verbs.
type SupportsAllVerbs struct {
	Verbs []string
}

// Match implements ResourcePredicate.
func (p SupportsAllVerbs) Match(_ string, r *metav1.APIResource) bool {
	for _, verb := range p.Verbs {
		if !slices.Contains(r.Verbs, verb) {
			return false
		}
	}
	return true
}

// FilteredBy returns new lists with the resources that a predicate selects. It leaves out empty
// lists. The result is never nil.
func FilteredBy(pred ResourcePredicate, rls []*metav1.APIResourceList) []*metav1.APIResourceList {
	filtered := []*metav1.APIResourceList{}
	for _, list := range rls {
		if list == nil {
			continue
		}
		chosen := *list
		chosen.APIResources = nil
		for i := range list.APIResources {
			if r := &list.APIResources[i]; pred.Match(list.GroupVersion, r) {
				chosen.APIResources = append(chosen.APIResources, *r)
			}
		}
		if len(chosen.APIResources) > 0 {
			filtered = append(filtered, &chosen)
		}
	}
	return filtered
}

// GroupVersionResources returns the set of all resources of lists. If the group version of a list
// is unparsable, it returns an error and no set.
func GroupVersionResources(rls []*metav1.APIResourceList) (map[schema.GroupVersionResource]struct{}, error) {
	set := map[schema.GroupVersionResource]struct{}{}
	for _, list := range rls {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return nil, err
		}
		for i := range list.APIResources {
			set[gv.WithResource(list.APIResources[i].Name)] = struct{}{}
		}
	}
	return set, nil
}

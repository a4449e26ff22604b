package discovery

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// ResourcePredicate chooses resources.
type ResourcePredicate interface {
	// Match returns whether a resource of a group version is wanted.
	Match(groupVersion string, r *metav1.APIResource) bool
}

// ResourcePredicateFunc is a function that is a ResourcePredicate.
type ResourcePredicateFunc func(groupVersion string, r *metav1.APIResource) bool

// Match calls fn.
func (fn ResourcePredicateFunc) Match(groupVersion string, r *metav1.APIResource) bool {
	return fn(groupVersion, r)
}

// SupportsAllVerbs chooses resources that have all of the verbs.
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

// FilteredBy returns new lists with the resources that a predicate chooses. Lists without any are left out. The result is not nil.
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

// GroupVersionResources returns the set of all resources of lists. It returns an error if a list's group version cannot be read, and
// no set beside it.
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

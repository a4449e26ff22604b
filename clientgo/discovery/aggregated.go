package discovery

import (
	apidiscovery "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// SplitGroupsAndResources converts an aggregated document to legacy documents. It returns all
// groups in the order of the document, the resources of their versions, and an error for each stale
// version. The resources and groups omit stale versions. The first version of a group becomes the
// preferred version.
func SplitGroupsAndResources(aggregatedGroups apidiscovery.APIGroupDiscoveryList) (
	*metav1.APIGroupList,
	map[schema.GroupVersion]*metav1.APIResourceList,
	map[schema.GroupVersion]error,
) {
	groups := &metav1.APIGroupList{}
	resources := map[schema.GroupVersion]*metav1.APIResourceList{}
	failed := map[schema.GroupVersion]error{}
	for _, g := range aggregatedGroups.Items {
		group := metav1.APIGroup{Name: g.Name}
		for _, v := range g.Versions {
			gv := schema.GroupVersion{Group: g.Name, Version: v.Version}
			if v.Freshness == apidiscovery.DiscoveryFreshnessStale {
				failed[gv] = StaleGroupVersionError{gv: gv}
				continue
			}
			group.Versions = append(group.Versions, metav1.GroupVersionForDiscovery{GroupVersion: gv.String(), Version: v.Version})
			list := &metav1.APIResourceList{GroupVersion: gv.String()}
			for i := range v.Resources {
				list.APIResources = appendResource(list.APIResources, &v.Resources[i])
			}
			resources[gv] = list
		}
		if len(group.Versions) > 0 {
			group.PreferredVersion = group.Versions[0]
		}
		groups.Groups = append(groups.Groups, group)
	}
	return groups, resources, failed
}

// appendResource appends a resource and its subresources. It leaves out a resource or subresource
// without a kind, because the legacy form requires a kind. Servers omit the kind of a resource that
// exists only for its subresources.
func appendResource(list []metav1.APIResource, r *apidiscovery.APIResourceDiscovery) []metav1.APIResource {
	namespaced := r.Scope == apidiscovery.ScopeNamespace
	if kind := r.ResponseKind; hasKind(kind) {
		list = append(list, metav1.APIResource{
			Name: r.Resource, SingularName: r.SingularResource, Namespaced: namespaced,
			Group: kind.Group, Version: kind.Version, Kind: kind.Kind,
			Verbs: r.Verbs, ShortNames: r.ShortNames, Categories: r.Categories,
		})
	}
	for _, sub := range r.Subresources {
		if kind := sub.ResponseKind; hasKind(kind) {
			list = append(list, metav1.APIResource{
				Name: r.Resource + "/" + sub.Subresource, SingularName: r.SingularResource, Namespaced: namespaced,
				Group: kind.Group, Version: kind.Version, Kind: kind.Kind, Verbs: sub.Verbs,
			})
		}
	}
	return list
}

// hasKind reports whether the server sent a kind.
func hasKind(kind *metav1.GroupVersionKind) bool {
	return kind != nil && *kind != metav1.GroupVersionKind{}
}

package discovery

import (
	"mime"
	"slices"
	"strings"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/version"

	"github.com/kinform/kinform/apitest/internal/storage"
	"github.com/kinform/kinform/apitest/internal/wire"
)

// AggregatedType is the Content-Type of the aggregated discovery document (KEP-3352).
const AggregatedType = wire.JSONType + ";g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

// AcceptsAggregated reports whether an Accept header requests the aggregated document.
func AcceptsAggregated(accept string) bool {
	for clause := range strings.SplitSeq(accept, ",") {
		mediaType, params, err := mime.ParseMediaType(strings.TrimSpace(clause))
		if err == nil && mediaType == wire.JSONType &&
			params["g"] == "apidiscovery.k8s.io" && params["v"] == "v2" && params["as"] == "APIGroupDiscoveryList" {
			return true
		}
	}
	return false
}

// Aggregated describes the core group, or all other groups.
func (c Catalog) Aggregated(core bool) apidiscoveryv2.APIGroupDiscoveryList {
	list := apidiscoveryv2.APIGroupDiscoveryList{
		TypeMeta: metav1.TypeMeta{Kind: "APIGroupDiscoveryList", APIVersion: "apidiscovery.k8s.io/v2"},
		Items:    []apidiscoveryv2.APIGroupDiscovery{},
	}
	for _, res := range c.Resources {
		if (res.Group == "") != core {
			continue
		}
		version := versionIn(groupIn(&list, res.Group), res.Version)
		version.Resources = append(version.Resources, c.discovery(res))
	}
	slices.SortStableFunc(list.Items, func(a, b apidiscoveryv2.APIGroupDiscovery) int { return compareGroups(a.Name, b.Name) })
	for _, group := range list.Items {
		slices.SortStableFunc(group.Versions, func(a, b apidiscoveryv2.APIVersionDiscovery) int {
			return version.CompareKubeAwareVersionStrings(b.Version, a.Version)
		})
	}
	return list
}

func groupIn(list *apidiscoveryv2.APIGroupDiscoveryList, name string) *apidiscoveryv2.APIGroupDiscovery {
	i := slices.IndexFunc(list.Items, func(g apidiscoveryv2.APIGroupDiscovery) bool { return g.Name == name })
	if i < 0 {
		i = len(list.Items)
		list.Items = append(list.Items, apidiscoveryv2.APIGroupDiscovery{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	return &list.Items[i]
}

func versionIn(group *apidiscoveryv2.APIGroupDiscovery, name string) *apidiscoveryv2.APIVersionDiscovery {
	i := slices.IndexFunc(group.Versions, func(v apidiscoveryv2.APIVersionDiscovery) bool { return v.Version == name })
	if i < 0 {
		i = len(group.Versions)
		group.Versions = append(group.Versions, apidiscoveryv2.APIVersionDiscovery{
			Version: name, Freshness: apidiscoveryv2.DiscoveryFreshnessCurrent,
		})
	}
	return &group.Versions[i]
}

func (c Catalog) discovery(r *storage.Resource) apidiscoveryv2.APIResourceDiscovery {
	kind := &metav1.GroupVersionKind{Kind: r.Kind} // The real server reports this group version.
	d := apidiscoveryv2.APIResourceDiscovery{
		Resource: r.Plural, SingularResource: r.Singular, ResponseKind: kind, Scope: apidiscoveryv2.ScopeNamespace,
		Verbs: Verbs(r), ShortNames: r.ShortNames, Categories: r.Categories,
	}
	if r.ClusterScoped {
		d.Scope = apidiscoveryv2.ScopeCluster
	}
	if r.Status {
		d.Subresources = []apidiscoveryv2.APISubresourceDiscovery{{
			Subresource: "status", ResponseKind: kind, Verbs: StatusVerbs,
		}}
	}
	for _, sub := range c.Subresources(r) {
		kind := metav1.GroupVersionKind(sub.Kind)
		if sub.Kind.GroupVersion() == r.GVK.GroupVersion() {
			kind.Group, kind.Version = "", ""
		}
		d.Subresources = append(d.Subresources, apidiscoveryv2.APISubresourceDiscovery{
			Subresource: sub.Name, ResponseKind: &kind, Verbs: sub.Verbs,
		})
	}
	return d
}

package discovery

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"

	"github.com/kinform/kinform/apitest/internal/storage"
)

// Catalog has the served resources, in the order of discovery. The function Subresources returns
// the subresources of a resource, except status.
type Catalog struct {
	Resources    []*storage.Resource
	Subresources func(*storage.Resource) []Subresource
}

// Subresource describes a subresource other than status.
type Subresource struct {
	Name  string
	Kind  schema.GroupVersionKind // kind of the subresource's objects
	Verbs metav1.Verbs
}

// groupVersion returns the group version that discovery reports for the kind. The result is empty
// if it equals the resource's group version.
func (sub Subresource) groupVersion(of *storage.Resource) schema.GroupVersion {
	if gv := sub.Kind.GroupVersion(); gv != of.GVK.GroupVersion() {
		return gv
	}
	return schema.GroupVersion{}
}

// Groups lists all groups except the core group, each with its versions.
func (c Catalog) Groups() []metav1.APIGroup {
	list := []metav1.APIGroup{}
	for _, res := range c.Resources {
		if res.Group == "" {
			continue
		}
		i := slices.IndexFunc(list, func(g metav1.APIGroup) bool { return g.Name == res.Group })
		if i < 0 {
			i = len(list)
			list = append(list, metav1.APIGroup{Name: res.Group})
		}
		gv := metav1.GroupVersionForDiscovery{GroupVersion: res.GVK.GroupVersion().String(), Version: res.Version}
		if group := &list[i]; !slices.Contains(group.Versions, gv) {
			group.Versions = append(group.Versions, gv)
		}
	}
	for _, group := range list {
		slices.SortStableFunc(group.Versions, func(a, b metav1.GroupVersionForDiscovery) int {
			return version.CompareKubeAwareVersionStrings(b.Version, a.Version)
		})
	}
	slices.SortStableFunc(list, func(a, b metav1.APIGroup) int { return compareGroups(a.Name, b.Name) })
	for i := range list {
		list[i].PreferredVersion = list[i].Versions[0]
	}
	return list
}

// Group describes one group. It returns nil if the server does not serve the group.
func (c Catalog) Group(name string) any {
	for _, group := range c.Groups() {
		if group.Name == name {
			group.TypeMeta = metav1.TypeMeta{Kind: "APIGroup", APIVersion: "v1"}
			return group
		}
	}
	return nil
}

// ResourcesIn describes the resources of one group version. It returns nil if the group version
// has no resources.
func (c Catalog) ResourcesIn(gv schema.GroupVersion) any {
	list := metav1.APIResourceList{
		TypeMeta:     metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"},
		GroupVersion: gv.String(),
	}
	for _, res := range c.Resources {
		if res.GVK.GroupVersion() != gv {
			continue
		}
		list.APIResources = append(list.APIResources, metav1.APIResource{
			Name: res.Plural, SingularName: res.Singular, Namespaced: !res.ClusterScoped, Kind: res.Kind,
			Verbs: Verbs(res), ShortNames: res.ShortNames, Categories: res.Categories,
		})
		if res.Status {
			list.APIResources = append(list.APIResources, metav1.APIResource{
				Name: res.Plural + "/status", Namespaced: !res.ClusterScoped, Kind: res.Kind, Verbs: StatusVerbs,
			})
		}
		for _, sub := range c.Subresources(res) {
			gv := sub.groupVersion(res)
			list.APIResources = append(list.APIResources, metav1.APIResource{
				Name: res.Plural + "/" + sub.Name, Namespaced: !res.ClusterScoped,
				Group: gv.Group, Version: gv.Version, Kind: sub.Kind.Kind, Verbs: sub.Verbs,
			})
		}
	}
	if list.APIResources == nil {
		return nil
	}
	return list
}

// The verbs of a resource, and of its status.
var (
	verbs       = metav1.Verbs{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}
	StatusVerbs = metav1.Verbs{"get", "patch", "update"}
)

// Verbs returns the verbs that the resource supports.
func Verbs(r *storage.Resource) metav1.Verbs {
	if r.PostOnly {
		return metav1.Verbs{"create"}
	}
	if r.Group == "" && r.Plural == "namespaces" {
		return slices.DeleteFunc(slices.Clone(verbs), func(verb string) bool { return verb == "deletecollection" })
	}
	return verbs
}

package discovery

import (
	"context"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// ServerPreferredResources is ServerPreferredResourcesWithContext without a context.
func (d *DiscoveryClient) ServerPreferredResources() ([]*metav1.APIResourceList, error) {
	return d.ServerPreferredResourcesWithContext(context.Background())
}

// ServerPreferredResourcesWithContext calls the package's function of the same name. If a group
// version fails, it calls the function once more.
func (d *DiscoveryClient) ServerPreferredResourcesWithContext(ctx context.Context) (lists []*metav1.APIResourceList, err error) {
	for range attempts {
		lists, err = ServerPreferredResourcesWithContext(ctx, d)
		if !IsGroupDiscoveryFailedError(err) {
			break
		}
	}
	return lists, err
}

// ServerPreferredNamespacedResources is ServerPreferredNamespacedResourcesWithContext without a
// context.
func (d *DiscoveryClient) ServerPreferredNamespacedResources() ([]*metav1.APIResourceList, error) {
	return d.ServerPreferredNamespacedResourcesWithContext(context.Background())
}

// ServerPreferredNamespacedResourcesWithContext calls the package's function of the same name.
func (d *DiscoveryClient) ServerPreferredNamespacedResourcesWithContext(ctx context.Context) ([]*metav1.APIResourceList, error) {
	return ServerPreferredNamespacedResourcesWithContext(ctx, d)
}

// ServerPreferredNamespacedResources is ServerPreferredNamespacedResourcesWithContext without a
// context.
func ServerPreferredNamespacedResources(d DiscoveryInterface) ([]*metav1.APIResourceList, error) {
	return ServerPreferredNamespacedResourcesWithContext(context.Background(), ToDiscoveryInterfaceWithContext(d))
}

// ServerPreferredNamespacedResourcesWithContext returns the namespaced resources of
// ServerPreferredResourcesWithContext, and the same error.
func ServerPreferredNamespacedResourcesWithContext(ctx context.Context, d DiscoveryInterfaceWithContext) ([]*metav1.APIResourceList, error) {
	all, err := ServerPreferredResourcesWithContext(ctx, d)
	namespaced := ResourcePredicateFunc(func(_ string, r *metav1.APIResource) bool { return r.Namespaced })
	return FilteredBy(namespaced, all), err
}

// ServerPreferredResources is ServerPreferredResourcesWithContext without a context.
func ServerPreferredResources(d DiscoveryInterface) ([]*metav1.APIResourceList, error) {
	return ServerPreferredResourcesWithContext(context.Background(), ToDiscoveryInterfaceWithContext(d))
}

// ServerPreferredResourcesWithContext returns each resource once, without subresources. A resource
// is in the preferred version of its group. If that version does not have the resource, it is in
// the first version that does. The result has a list for each version, in the order of the groups.
// A list may be empty. If the error is an *ErrGroupDiscoveryFailed, the result has everything that
// did not fail.
func ServerPreferredResourcesWithContext(ctx context.Context, d DiscoveryInterfaceWithContext) ([]*metav1.APIResourceList, error) {
	found, err := groupsOf(ctx, d)
	if err != nil {
		return nil, err
	}
	found.fetch(ctx, d)
	preferred := []*metav1.APIResourceList{}
	for i := range found.groups.Groups {
		group := &found.groups.Groups[i]
		chosen := found.versionsOf(group)
		for _, v := range group.Versions {
			gv := schema.GroupVersion{Group: group.Name, Version: v.Version}
			from := found.resources[gv]
			if from == nil {
				continue
			}
			list := &metav1.APIResourceList{GroupVersion: v.GroupVersion}
			for _, r := range from.APIResources {
				if chosen[r.Name] == v.Version {
					list.APIResources = append(list.APIResources, r)
				}
			}
			preferred = append(preferred, list)
		}
	}
	return preferred, found.error()
}

// versionsOf maps each resource of a group to the version in which
// ServerPreferredResourcesWithContext returns it.
func (f *document) versionsOf(group *metav1.APIGroup) map[string]string {
	chosen := map[string]string{}
	for _, v := range group.Versions {
		list := f.resources[schema.GroupVersion{Group: group.Name, Version: v.Version}]
		if list == nil {
			continue
		}
		for i := range list.APIResources {
			name := list.APIResources[i].Name
			if strings.Contains(name, "/") {
				continue // a subresource
			}
			if _, ok := chosen[name]; !ok || v.Version == group.PreferredVersion.Version {
				chosen[name] = v.Version
			}
		}
	}
	return chosen
}

package restmapper

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"k8s.io/client-go/discovery"
)

// APIGroupResources is a group with the resources of its versions.
type APIGroupResources struct {
	Group metav1.APIGroup
	// VersionedResources has the resources by version. It lacks versions that could not be read.
	VersionedResources map[string][]metav1.APIResource
}

// GetAPIGroupResources is GetAPIGroupResourcesWithContext without a context.
func GetAPIGroupResources(cl discovery.DiscoveryInterface) ([]*APIGroupResources, error) {
	return GetAPIGroupResourcesWithContext(context.Background(), discovery.ToDiscoveryInterfaceWithContext(cl))
}

// GetAPIGroupResourcesWithContext returns all groups of a server with their resources. The result
// lacks parts that could not be read. It returns an error only if there are no groups or no
// resources.
func GetAPIGroupResourcesWithContext(ctx context.Context, cl discovery.DiscoveryInterfaceWithContext) ([]*APIGroupResources, error) {
	groups, lists, err := cl.ServerGroupsAndResourcesWithContext(ctx)
	if groups == nil || lists == nil {
		return nil, err
	}
	resources := make(map[string][]metav1.APIResource, len(lists))
	for _, list := range lists {
		resources[list.GroupVersion] = list.APIResources
	}
	var all []*APIGroupResources
	for _, group := range groups {
		of := &APIGroupResources{Group: *group, VersionedResources: map[string][]metav1.APIResource{}}
		for _, v := range group.Versions {
			gv := schema.GroupVersion{Group: group.Name, Version: v.Version}
			if found, ok := resources[gv.String()]; ok {
				of.VersionedResources[v.Version] = found
			}
		}
		all = append(all, of)
	}
	return all, nil
}

package scale

import (
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"k8s.io/client-go/discovery"
)

// discoveryResolver reads the kind of each resource's scale from discovery documents, and caches
// the kinds.
type discoveryResolver struct {
	client discovery.ServerResourcesInterface
	known  sync.Map // maps schema.GroupVersionResource to schema.GroupVersionKind
}

// NewDiscoveryScaleKindResolver returns a resolver that requests the kind for each resource once.
// If the request fails, the next call repeats it. It is safe for concurrent use.
func NewDiscoveryScaleKindResolver(client discovery.ServerResourcesInterface) ScaleKindResolver {
	return &discoveryResolver{client: client}
}

// ScaleForResource implements ScaleKindResolver.
func (r *discoveryResolver) ScaleForResource(resource schema.GroupVersionResource) (schema.GroupVersionKind, error) {
	if known, ok := r.known.Load(resource); ok {
		return known.(schema.GroupVersionKind), nil
	}
	list, err := r.client.ServerResourcesForGroupVersion(resource.GroupVersion().String())
	if err != nil {
		return schema.GroupVersionKind{}, fmt.Errorf("unable to fetch discovery information for %s: %w", resource, err)
	}
	for i := range list.APIResources {
		sub := &list.APIResources[i]
		if sub.Name != resource.Resource+"/scale" {
			continue
		}
		kind := resource.GroupVersion().WithKind(sub.Kind)
		if sub.Group != "" && sub.Version != "" {
			kind.Group, kind.Version = sub.Group, sub.Version
		}
		r.known.Store(resource, kind)
		return kind, nil
	}
	return schema.GroupVersionKind{}, fmt.Errorf("could not find scale subresource for %s in discovery information", resource)
}

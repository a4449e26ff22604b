package restmapper

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/internal/once"
)

// DeferredDiscoveryRESTMapper is a mapper that reads a cache of discovery documents on first use.
// If a lookup finds nothing and the cache may be outdated, it invalidates the cache and reads it
// once more. It is safe for concurrent use.
type DeferredDiscoveryRESTMapper struct {
	cl     discovery.CachedDiscoveryInterfaceWithContext
	mapper once.Value[meta.RESTMapperWithContext]
}

var (
	_ meta.ResettableRESTMapper            = &DeferredDiscoveryRESTMapper{}
	_ meta.ResettableRESTMapperWithContext = &DeferredDiscoveryRESTMapper{}
	_ fmt.Stringer                         = &DeferredDiscoveryRESTMapper{}
)

// NewDeferredDiscoveryRESTMapper returns a mapper that reads from a cache. The mapper owns the
// cache, and invalidates it if a lookup finds nothing.
func NewDeferredDiscoveryRESTMapper(cl discovery.CachedDiscoveryInterface) *DeferredDiscoveryRESTMapper {
	return NewDeferredDiscoveryRESTMapperWithContext(discovery.ToCachedDiscoveryInterfaceWithContext(cl))
}

// NewDeferredDiscoveryRESTMapperWithContext is NewDeferredDiscoveryRESTMapper for a cache that
// takes contexts.
func NewDeferredDiscoveryRESTMapperWithContext(cl discovery.CachedDiscoveryInterfaceWithContext) *DeferredDiscoveryRESTMapper {
	return &DeferredDiscoveryRESTMapper{cl: cl}
}

// currentMapper returns a mapper for the content of the cache.
func (d *DeferredDiscoveryRESTMapper) currentMapper(ctx context.Context) (meta.RESTMapperWithContext, error) {
	return d.mapper.Get(ctx, func(ctx context.Context) (meta.RESTMapperWithContext, error) {
		groups, err := GetAPIGroupResourcesWithContext(ctx, d.cl)
		if err != nil {
			return nil, err
		}
		return NewDiscoveryRESTMapperWithContext(groups), nil
	})
}

// find returns the result of lookUp. If lookUp finds no match and the cache may be outdated, find
// invalidates the cache and calls lookUp once more. It does so only once, because some caches never
// become fresh.
func find[T any](ctx context.Context, d *DeferredDiscoveryRESTMapper, lookUp func(meta.RESTMapperWithContext) (T, error)) (T, error) {
	mapper, err := d.currentMapper(ctx)
	if err != nil {
		var none T
		return none, err
	}
	found, err := lookUp(mapper)
	if !meta.IsNoMatchError(err) || d.cl.FreshWithContext(ctx) {
		return found, err
	}
	d.ResetWithContext(ctx)
	if mapper, err = d.currentMapper(ctx); err != nil {
		var none T
		return none, err
	}
	return lookUp(mapper)
}

// Reset is ResetWithContext.
func (d *DeferredDiscoveryRESTMapper) Reset() { d.ResetWithContext(context.Background()) }

// ResetWithContext invalidates the cache, and drops the mapper.
func (d *DeferredDiscoveryRESTMapper) ResetWithContext(ctx context.Context) {
	// before the mapper is dropped, so that a mapper made between the two lines is dropped too
	d.cl.InvalidateWithContext(ctx)
	d.mapper.Forget()
}

// String describes the mapper. If there is no mapper yet, it makes one, which may send requests.
func (d *DeferredDiscoveryRESTMapper) String() string {
	mapper, err := d.currentMapper(context.Background())
	if err != nil {
		return fmt.Sprintf("DeferredDiscoveryRESTMapper{%v}", err)
	}
	return fmt.Sprintf("DeferredDiscoveryRESTMapper{\n\t%v\n}", mapper)
}

// KindFor is KindForWithContext without a context.
func (d *DeferredDiscoveryRESTMapper) KindFor(resource schema.GroupVersionResource) (gvk schema.GroupVersionKind, err error) {
	return d.KindForWithContext(context.Background(), resource)
}

// KindForWithContext returns the kind of a resource. Group and version may be empty, and the group
// may be a prefix.
func (d *DeferredDiscoveryRESTMapper) KindForWithContext(ctx context.Context, resource schema.GroupVersionResource) (gvk schema.GroupVersionKind, err error) {
	return find(ctx, d, func(m meta.RESTMapperWithContext) (schema.GroupVersionKind, error) {
		return m.KindForWithContext(ctx, resource)
	})
}

// KindsFor is KindsForWithContext without a context.
func (d *DeferredDiscoveryRESTMapper) KindsFor(resource schema.GroupVersionResource) (gvks []schema.GroupVersionKind, err error) {
	return d.KindsForWithContext(context.Background(), resource)
}

// KindsForWithContext returns all kinds that match a partial resource.
func (d *DeferredDiscoveryRESTMapper) KindsForWithContext(ctx context.Context, resource schema.GroupVersionResource) (gvks []schema.GroupVersionKind, err error) {
	return find(ctx, d, func(m meta.RESTMapperWithContext) ([]schema.GroupVersionKind, error) {
		return m.KindsForWithContext(ctx, resource)
	})
}

// ResourceFor is ResourceForWithContext without a context.
func (d *DeferredDiscoveryRESTMapper) ResourceFor(input schema.GroupVersionResource) (gvr schema.GroupVersionResource, err error) {
	return d.ResourceForWithContext(context.Background(), input)
}

// ResourceForWithContext returns the complete resource for a partial resource.
func (d *DeferredDiscoveryRESTMapper) ResourceForWithContext(ctx context.Context, input schema.GroupVersionResource) (gvr schema.GroupVersionResource, err error) {
	return find(ctx, d, func(m meta.RESTMapperWithContext) (schema.GroupVersionResource, error) {
		return m.ResourceForWithContext(ctx, input)
	})
}

// ResourcesFor is ResourcesForWithContext without a context.
func (d *DeferredDiscoveryRESTMapper) ResourcesFor(input schema.GroupVersionResource) (gvrs []schema.GroupVersionResource, err error) {
	return d.ResourcesForWithContext(context.Background(), input)
}

// ResourcesForWithContext returns all complete resources for a partial resource.
func (d *DeferredDiscoveryRESTMapper) ResourcesForWithContext(ctx context.Context, input schema.GroupVersionResource) (gvrs []schema.GroupVersionResource, err error) {
	return find(ctx, d, func(m meta.RESTMapperWithContext) ([]schema.GroupVersionResource, error) {
		return m.ResourcesForWithContext(ctx, input)
	})
}

// RESTMapping is RESTMappingWithContext without a context.
func (d *DeferredDiscoveryRESTMapper) RESTMapping(gk schema.GroupKind, versions ...string) (m *meta.RESTMapping, err error) {
	return d.RESTMappingWithContext(context.Background(), gk, versions...)
}

// RESTMappingWithContext returns the resource of a kind, in the first of the given versions that
// has the kind. If no versions are given, the resource is in the preferred version.
func (d *DeferredDiscoveryRESTMapper) RESTMappingWithContext(ctx context.Context, gk schema.GroupKind, versions ...string) (m *meta.RESTMapping, err error) {
	return find(ctx, d, func(m meta.RESTMapperWithContext) (*meta.RESTMapping, error) {
		return m.RESTMappingWithContext(ctx, gk, versions...)
	})
}

// RESTMappings is RESTMappingsWithContext without a context.
func (d *DeferredDiscoveryRESTMapper) RESTMappings(gk schema.GroupKind, versions ...string) (ms []*meta.RESTMapping, err error) {
	return d.RESTMappingsWithContext(context.Background(), gk, versions...)
}

// RESTMappingsWithContext returns the resources of a kind in the given versions, or in all versions
// if none are given.
func (d *DeferredDiscoveryRESTMapper) RESTMappingsWithContext(ctx context.Context, gk schema.GroupKind, versions ...string) (ms []*meta.RESTMapping, err error) {
	return find(ctx, d, func(m meta.RESTMapperWithContext) ([]*meta.RESTMapping, error) {
		return m.RESTMappingsWithContext(ctx, gk, versions...)
	})
}

// ResourceSingularizer is ResourceSingularizerWithContext without a context.
func (d *DeferredDiscoveryRESTMapper) ResourceSingularizer(resource string) (singular string, err error) {
	return d.ResourceSingularizerWithContext(context.Background(), resource)
}

// ResourceSingularizerWithContext returns the singular of a resource's name. If it returns an
// error, the string is the argument itself.
func (d *DeferredDiscoveryRESTMapper) ResourceSingularizerWithContext(ctx context.Context, resource string) (singular string, err error) {
	singular, err = find(ctx, d, func(m meta.RESTMapperWithContext) (string, error) {
		return m.ResourceSingularizerWithContext(ctx, resource)
	})
	if err != nil && singular == "" {
		singular = resource
	}
	return singular, err
}

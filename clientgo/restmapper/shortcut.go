package restmapper

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2"

	"k8s.io/client-go/discovery"
)

// shortcutExpander replaces short names, and then calls another mapper.
type shortcutExpander struct {
	// implements RESTMapping and RESTMappings, in which short names are not used
	meta.RESTMapperWithContext
	delegate meta.RESTMapper // the mapper without a context that the caller passed, or nil
	client   discovery.DiscoveryInterfaceWithContext
	warn     func(string) // may be nil
}

var (
	_ meta.ResettableRESTMapper            = shortcutExpander{}
	_ meta.ResettableRESTMapperWithContext = shortcutExpander{}
)

// NewShortcutExpander returns a mapper that replaces the short name of a resource, such as "po", by
// its full name, and then calls delegate. Each call gets the short names from client, which should
// be a cache. If a short name matches several resources, the first resource is used. In this case
// warningHandler receives a warning that names the other resources. warningHandler may be nil.
func NewShortcutExpander(delegate meta.RESTMapper, client discovery.DiscoveryInterface, warningHandler func(string)) meta.RESTMapper {
	return shortcutExpander{meta.ToRESTMapperWithContext(delegate), delegate, discovery.ToDiscoveryInterfaceWithContext(client), warningHandler}
}

// NewShortcutExpanderWithContext is NewShortcutExpander for calls with contexts.
func NewShortcutExpanderWithContext(delegate meta.RESTMapperWithContext, client discovery.DiscoveryInterfaceWithContext, warningHandler func(string)) meta.RESTMapperWithContext {
	return shortcutExpander{delegate, nil, client, warningHandler}
}

// expand returns the resource whose short name is in resource. If there is no such short name, it
// returns resource unchanged.
func (e shortcutExpander) expand(ctx context.Context, resource schema.GroupVersionResource) schema.GroupVersionResource {
	_, lists, err := e.client.ServerGroupsAndResourcesWithContext(ctx)
	if err != nil {
		klog.FromContext(ctx).V(1).Info("Short names may be missing: a part of the API could not be read", "err", err)
	}
	var exact, byPrefix []schema.GroupResource // the matching resources, each once
	for _, list := range lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			continue
		}
		ofGroup := resource.Group == "" || resource.Group == gv.Group
		for i := range list.APIResources {
			r := &list.APIResources[i]
			if ofGroup && (resource.Resource == r.Name || resource.Resource == r.SingularName) {
				return resource // a full name takes precedence over all short names
			}
			if !slices.Contains(r.ShortNames, resource.Resource) {
				continue
			}
			meant := schema.GroupResource{Group: gv.Group, Resource: r.Name}
			if ofGroup && !slices.Contains(exact, meant) {
				exact = append(exact, meant)
			}
			if resource.Group != "" && strings.HasPrefix(gv.Group, resource.Group) {
				byPrefix = append(byPrefix, meant)
			}
		}
	}
	switch {
	case len(exact) > 0:
		for _, other := range exact[1:] {
			if e.warn != nil {
				e.warn(fmt.Sprintf("short name %q could also match lower priority resource %s", resource.Resource, other))
			}
		}
		return exact[0].WithVersion("")
	case len(byPrefix) > 0:
		return byPrefix[0].WithVersion(resource.Version)
	}
	return resource
}

// KindFor implements meta.RESTMapper.
func (e shortcutExpander) KindFor(resource schema.GroupVersionResource) (schema.GroupVersionKind, error) {
	return e.KindForWithContext(context.Background(), resource)
}

// KindForWithContext implements meta.RESTMapperWithContext.
func (e shortcutExpander) KindForWithContext(ctx context.Context, resource schema.GroupVersionResource) (schema.GroupVersionKind, error) {
	kind, err := e.RESTMapperWithContext.KindForWithContext(ctx, e.expand(ctx, resource))
	if meta.IsNoMatchError(err) {
		// The other mapper may have invalidated the cache. So try once more: the short name may be
		// known now.
		return e.RESTMapperWithContext.KindForWithContext(ctx, e.expand(ctx, resource))
	}
	return kind, err
}

// KindsFor implements meta.RESTMapper.
func (e shortcutExpander) KindsFor(resource schema.GroupVersionResource) ([]schema.GroupVersionKind, error) {
	return e.KindsForWithContext(context.Background(), resource)
}

// KindsForWithContext implements meta.RESTMapperWithContext.
func (e shortcutExpander) KindsForWithContext(ctx context.Context, resource schema.GroupVersionResource) ([]schema.GroupVersionKind, error) {
	return e.RESTMapperWithContext.KindsForWithContext(ctx, e.expand(ctx, resource))
}

// ResourceFor implements meta.RESTMapper.
func (e shortcutExpander) ResourceFor(resource schema.GroupVersionResource) (schema.GroupVersionResource, error) {
	return e.ResourceForWithContext(context.Background(), resource)
}

// ResourceForWithContext implements meta.RESTMapperWithContext.
func (e shortcutExpander) ResourceForWithContext(ctx context.Context, resource schema.GroupVersionResource) (schema.GroupVersionResource, error) {
	return e.RESTMapperWithContext.ResourceForWithContext(ctx, e.expand(ctx, resource))
}

// ResourcesFor implements meta.RESTMapper.
func (e shortcutExpander) ResourcesFor(resource schema.GroupVersionResource) ([]schema.GroupVersionResource, error) {
	return e.ResourcesForWithContext(context.Background(), resource)
}

// ResourcesForWithContext implements meta.RESTMapperWithContext.
func (e shortcutExpander) ResourcesForWithContext(ctx context.Context, resource schema.GroupVersionResource) ([]schema.GroupVersionResource, error) {
	return e.RESTMapperWithContext.ResourcesForWithContext(ctx, e.expand(ctx, resource))
}

// RESTMapping implements meta.RESTMapper.
func (e shortcutExpander) RESTMapping(gk schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	return e.RESTMappingWithContext(context.Background(), gk, versions...)
}

// RESTMappings implements meta.RESTMapper.
func (e shortcutExpander) RESTMappings(gk schema.GroupKind, versions ...string) ([]*meta.RESTMapping, error) {
	return e.RESTMappingsWithContext(context.Background(), gk, versions...)
}

// ResourceSingularizer implements meta.RESTMapper.
func (e shortcutExpander) ResourceSingularizer(resource string) (string, error) {
	return e.ResourceSingularizerWithContext(context.Background(), resource)
}

// ResourceSingularizerWithContext implements meta.RESTMapperWithContext.
func (e shortcutExpander) ResourceSingularizerWithContext(ctx context.Context, resource string) (string, error) {
	expanded := e.expand(ctx, schema.GroupVersionResource{Resource: resource})
	return e.RESTMapperWithContext.ResourceSingularizerWithContext(ctx, expanded.Resource)
}

// Reset resets the other mapper if it supports that.
func (e shortcutExpander) Reset() { e.ResetWithContext(context.Background()) }

// ResetWithContext resets the other mapper if it supports that.
func (e shortcutExpander) ResetWithContext(ctx context.Context) {
	if e.delegate != nil {
		meta.MaybeResetRESTMapper(e.delegate)
		return
	}
	meta.MaybeResetRESTMapperWithContext(ctx, e.RESTMapperWithContext)
}

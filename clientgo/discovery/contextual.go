package discovery

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"

	"k8s.io/client-go/internal/openapiv2"
	"k8s.io/client-go/openapi"
	"k8s.io/client-go/rest"
)

// DiscoveryInterfaceWithContext is DiscoveryInterface, with contexts.
type DiscoveryInterfaceWithContext interface {
	RESTClient() rest.Interface
	ServerGroupsInterfaceWithContext
	ServerResourcesInterfaceWithContext
	ServerVersionInterfaceWithContext
	OpenAPISchemaInterfaceWithContext
	OpenAPIV3SchemaInterfaceWithContext
	// WithLegacyWithContext returns a client that requests only the legacy documents. A client that
	// cannot restrict its requests in this way returns itself.
	WithLegacyWithContext(ctx context.Context) DiscoveryInterfaceWithContext
}

// AggregatedDiscoveryInterfaceWithContext is AggregatedDiscoveryInterface, with contexts.
type AggregatedDiscoveryInterfaceWithContext interface {
	DiscoveryInterfaceWithContext

	// GroupsAndMaybeResourcesWithContext is AggregatedDiscoveryInterface.GroupsAndMaybeResources.
	GroupsAndMaybeResourcesWithContext(ctx context.Context) (*metav1.APIGroupList, map[schema.GroupVersion]*metav1.APIResourceList, map[schema.GroupVersion]error, error)
}

// CachedDiscoveryInterfaceWithContext is CachedDiscoveryInterface, with contexts.
type CachedDiscoveryInterfaceWithContext interface {
	DiscoveryInterfaceWithContext
	// FreshWithContext is CachedDiscoveryInterface.Fresh.
	FreshWithContext(ctx context.Context) bool
	// InvalidateWithContext is CachedDiscoveryInterface.Invalidate.
	InvalidateWithContext(ctx context.Context)
}

// ServerGroupsInterfaceWithContext is ServerGroupsInterface, with contexts.
type ServerGroupsInterfaceWithContext interface {
	// ServerGroupsWithContext is ServerGroupsInterface.ServerGroups.
	ServerGroupsWithContext(ctx context.Context) (*metav1.APIGroupList, error)
}

// ServerResourcesInterfaceWithContext is ServerResourcesInterface, with contexts.
type ServerResourcesInterfaceWithContext interface {
	// ServerResourcesForGroupVersionWithContext is
	// ServerResourcesInterface.ServerResourcesForGroupVersion.
	ServerResourcesForGroupVersionWithContext(ctx context.Context, groupVersion string) (*metav1.APIResourceList, error)
	// ServerGroupsAndResourcesWithContext is ServerResourcesInterface.ServerGroupsAndResources.
	ServerGroupsAndResourcesWithContext(ctx context.Context) ([]*metav1.APIGroup, []*metav1.APIResourceList, error)
	// ServerPreferredResourcesWithContext is ServerResourcesInterface.ServerPreferredResources.
	ServerPreferredResourcesWithContext(ctx context.Context) ([]*metav1.APIResourceList, error)
	// ServerPreferredNamespacedResourcesWithContext is
	// ServerResourcesInterface.ServerPreferredNamespacedResources.
	ServerPreferredNamespacedResourcesWithContext(ctx context.Context) ([]*metav1.APIResourceList, error)
}

// ServerVersionInterfaceWithContext is ServerVersionInterface, with contexts.
type ServerVersionInterfaceWithContext interface {
	// ServerVersionWithContext is ServerVersionInterface.ServerVersion.
	ServerVersionWithContext(ctx context.Context) (*version.Info, error)
}

// OpenAPISchemaInterfaceWithContext is OpenAPISchemaInterface, with contexts.
type OpenAPISchemaInterfaceWithContext interface {
	// OpenAPISchemaWithContext is OpenAPISchemaInterface.OpenAPISchema.
	OpenAPISchemaWithContext(ctx context.Context) (*openapiv2.Document, error)
}

// OpenAPIV3SchemaInterfaceWithContext is OpenAPIV3SchemaInterface, with contexts.
type OpenAPIV3SchemaInterfaceWithContext interface {
	// OpenAPIV3WithContext is OpenAPIV3SchemaInterface.OpenAPIV3.
	OpenAPIV3WithContext(ctx context.Context) openapi.ClientWithContext
}

// The adapters below add methods with contexts to an implementation without them. These calls
// cannot be cancelled.

// ToDiscoveryInterfaceWithContext returns i itself if i takes contexts, and otherwise an adapter
// that ignores contexts. The adapter of an AggregatedDiscoveryInterface implements
// AggregatedDiscoveryInterfaceWithContext too.
func ToDiscoveryInterfaceWithContext(i DiscoveryInterface) DiscoveryInterfaceWithContext {
	if i == nil {
		return nil
	}
	if c, ok := i.(DiscoveryInterfaceWithContext); ok {
		return c
	}
	if a, ok := i.(AggregatedDiscoveryInterface); ok {
		return aggregatedWithContext{withContext{i}, a}
	}
	return withContext{i}
}

// ToAggregatedDiscoveryInterfaceWithContext is ToDiscoveryInterfaceWithContext for aggregated
// discovery.
func ToAggregatedDiscoveryInterfaceWithContext(i AggregatedDiscoveryInterface) AggregatedDiscoveryInterfaceWithContext {
	if i == nil {
		return nil
	}
	if c, ok := i.(AggregatedDiscoveryInterfaceWithContext); ok {
		return c
	}
	return aggregatedWithContext{withContext{i}, i}
}

// ToCachedDiscoveryInterfaceWithContext is ToDiscoveryInterfaceWithContext for a caching client.
func ToCachedDiscoveryInterfaceWithContext(i CachedDiscoveryInterface) CachedDiscoveryInterfaceWithContext {
	if i == nil {
		return nil
	}
	if c, ok := i.(CachedDiscoveryInterfaceWithContext); ok {
		return c
	}
	return cachedWithContext{ToDiscoveryInterfaceWithContext(i), i}
}

// ToServerGroupsInterfaceWithContext is ToDiscoveryInterfaceWithContext for groups.
func ToServerGroupsInterfaceWithContext(i ServerGroupsInterface) ServerGroupsInterfaceWithContext {
	if i == nil {
		return nil
	}
	if c, ok := i.(ServerGroupsInterfaceWithContext); ok {
		return c
	}
	return groupsWithContext{i}
}

// ToServerResourcesInterfaceWithContext is ToDiscoveryInterfaceWithContext for resources.
func ToServerResourcesInterfaceWithContext(i ServerResourcesInterface) ServerResourcesInterfaceWithContext {
	if i == nil {
		return nil
	}
	if c, ok := i.(ServerResourcesInterfaceWithContext); ok {
		return c
	}
	return resourcesWithContext{i}
}

// ToServerVersionInterfaceWithContext is ToDiscoveryInterfaceWithContext for the version.
func ToServerVersionInterfaceWithContext(i ServerVersionInterface) ServerVersionInterfaceWithContext {
	if i == nil {
		return nil
	}
	if c, ok := i.(ServerVersionInterfaceWithContext); ok {
		return c
	}
	return versionWithContext{i}
}

// ToOpenAPISchemaInterfaceWithContext is ToDiscoveryInterfaceWithContext for OpenAPI v2.
func ToOpenAPISchemaInterfaceWithContext(i OpenAPISchemaInterface) OpenAPISchemaInterfaceWithContext {
	if i == nil {
		return nil
	}
	if c, ok := i.(OpenAPISchemaInterfaceWithContext); ok {
		return c
	}
	return schemaWithContext{i}
}

// OpenAPIV3ToSchemaInterfaceWithContext is ToDiscoveryInterfaceWithContext for OpenAPI v3.
func OpenAPIV3ToSchemaInterfaceWithContext(i OpenAPIV3SchemaInterface) OpenAPIV3SchemaInterfaceWithContext {
	if i == nil {
		return nil
	}
	if c, ok := i.(OpenAPIV3SchemaInterfaceWithContext); ok {
		return c
	}
	return v3WithContext{i}
}

// ToOpenAPIClientWithContext is openapi.ToClientWithContext.
func ToOpenAPIClientWithContext(i openapi.Client) openapi.ClientWithContext {
	return openapi.ToClientWithContext(i)
}

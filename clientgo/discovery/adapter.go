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

// withContext adapts an implementation whose methods take no contexts. Its methods take contexts
// and ignore them.
type withContext struct{ i DiscoveryInterface }

func (p withContext) RESTClient() rest.Interface { return p.i.RESTClient() }

func (p withContext) ServerGroupsWithContext(ctx context.Context) (*metav1.APIGroupList, error) {
	return groupsWithContext{p.i}.ServerGroupsWithContext(ctx)
}

func (p withContext) ServerResourcesForGroupVersionWithContext(ctx context.Context, groupVersion string) (*metav1.APIResourceList, error) {
	return resourcesWithContext{p.i}.ServerResourcesForGroupVersionWithContext(ctx, groupVersion)
}

func (p withContext) ServerGroupsAndResourcesWithContext(ctx context.Context) ([]*metav1.APIGroup, []*metav1.APIResourceList, error) {
	return resourcesWithContext{p.i}.ServerGroupsAndResourcesWithContext(ctx)
}

func (p withContext) ServerPreferredResourcesWithContext(ctx context.Context) ([]*metav1.APIResourceList, error) {
	return resourcesWithContext{p.i}.ServerPreferredResourcesWithContext(ctx)
}

func (p withContext) ServerPreferredNamespacedResourcesWithContext(ctx context.Context) ([]*metav1.APIResourceList, error) {
	return resourcesWithContext{p.i}.ServerPreferredNamespacedResourcesWithContext(ctx)
}

func (p withContext) ServerVersionWithContext(ctx context.Context) (*version.Info, error) {
	return versionWithContext{p.i}.ServerVersionWithContext(ctx)
}

func (p withContext) OpenAPISchemaWithContext(ctx context.Context) (*openapiv2.Document, error) {
	return schemaWithContext{p.i}.OpenAPISchemaWithContext(ctx)
}

func (p withContext) OpenAPIV3WithContext(ctx context.Context) openapi.ClientWithContext {
	return v3WithContext{p.i}.OpenAPIV3WithContext(ctx)
}

func (p withContext) WithLegacyWithContext(context.Context) DiscoveryInterfaceWithContext {
	return ToDiscoveryInterfaceWithContext(p.i.WithLegacy())
}

type aggregatedWithContext struct {
	withContext
	aggregated AggregatedDiscoveryInterface
}

func (p aggregatedWithContext) GroupsAndMaybeResourcesWithContext(context.Context) (*metav1.APIGroupList, map[schema.GroupVersion]*metav1.APIResourceList, map[schema.GroupVersion]error, error) {
	return p.aggregated.GroupsAndMaybeResources()
}

type cachedWithContext struct {
	DiscoveryInterfaceWithContext
	i CachedDiscoveryInterface
}

func (p cachedWithContext) FreshWithContext(context.Context) bool { return p.i.Fresh() }

func (p cachedWithContext) InvalidateWithContext(context.Context) { p.i.Invalidate() }

type groupsWithContext struct{ i ServerGroupsInterface }

func (p groupsWithContext) ServerGroupsWithContext(context.Context) (*metav1.APIGroupList, error) {
	return p.i.ServerGroups()
}

type resourcesWithContext struct{ i ServerResourcesInterface }

func (p resourcesWithContext) ServerResourcesForGroupVersionWithContext(_ context.Context, groupVersion string) (*metav1.APIResourceList, error) {
	return p.i.ServerResourcesForGroupVersion(groupVersion)
}

func (p resourcesWithContext) ServerGroupsAndResourcesWithContext(context.Context) ([]*metav1.APIGroup, []*metav1.APIResourceList, error) {
	return p.i.ServerGroupsAndResources()
}

func (p resourcesWithContext) ServerPreferredResourcesWithContext(context.Context) ([]*metav1.APIResourceList, error) {
	return p.i.ServerPreferredResources()
}

func (p resourcesWithContext) ServerPreferredNamespacedResourcesWithContext(context.Context) ([]*metav1.APIResourceList, error) {
	return p.i.ServerPreferredNamespacedResources()
}

type versionWithContext struct{ i ServerVersionInterface }

func (p versionWithContext) ServerVersionWithContext(context.Context) (*version.Info, error) {
	return p.i.ServerVersion()
}

type schemaWithContext struct{ i OpenAPISchemaInterface }

func (p schemaWithContext) OpenAPISchemaWithContext(context.Context) (*openapiv2.Document, error) {
	return p.i.OpenAPISchema()
}

type v3WithContext struct{ i OpenAPIV3SchemaInterface }

func (p v3WithContext) OpenAPIV3WithContext(context.Context) openapi.ClientWithContext {
	return openapi.ToClientWithContext(p.i.OpenAPIV3())
}

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

// plain adapts an implementation whose methods take no contexts. Its methods take contexts and
// ignore them.
type plain struct{ i DiscoveryInterface }

func (p plain) RESTClient() rest.Interface { return p.i.RESTClient() }

func (p plain) ServerGroupsWithContext(ctx context.Context) (*metav1.APIGroupList, error) {
	return plainGroups{p.i}.ServerGroupsWithContext(ctx)
}

func (p plain) ServerResourcesForGroupVersionWithContext(ctx context.Context, groupVersion string) (*metav1.APIResourceList, error) {
	return plainResources{p.i}.ServerResourcesForGroupVersionWithContext(ctx, groupVersion)
}

func (p plain) ServerGroupsAndResourcesWithContext(ctx context.Context) ([]*metav1.APIGroup, []*metav1.APIResourceList, error) {
	return plainResources{p.i}.ServerGroupsAndResourcesWithContext(ctx)
}

func (p plain) ServerPreferredResourcesWithContext(ctx context.Context) ([]*metav1.APIResourceList, error) {
	return plainResources{p.i}.ServerPreferredResourcesWithContext(ctx)
}

func (p plain) ServerPreferredNamespacedResourcesWithContext(ctx context.Context) ([]*metav1.APIResourceList, error) {
	return plainResources{p.i}.ServerPreferredNamespacedResourcesWithContext(ctx)
}

func (p plain) ServerVersionWithContext(ctx context.Context) (*version.Info, error) {
	return plainVersion{p.i}.ServerVersionWithContext(ctx)
}

func (p plain) OpenAPISchemaWithContext(ctx context.Context) (*openapiv2.Document, error) {
	return plainSchema{p.i}.OpenAPISchemaWithContext(ctx)
}

func (p plain) OpenAPIV3WithContext(ctx context.Context) openapi.ClientWithContext {
	return plainV3{p.i}.OpenAPIV3WithContext(ctx)
}

func (p plain) WithLegacyWithContext(context.Context) DiscoveryInterfaceWithContext {
	return ToDiscoveryInterfaceWithContext(p.i.WithLegacy())
}

type plainAggregated struct {
	plain
	aggregated AggregatedDiscoveryInterface
}

func (p plainAggregated) GroupsAndMaybeResourcesWithContext(context.Context) (*metav1.APIGroupList, map[schema.GroupVersion]*metav1.APIResourceList, map[schema.GroupVersion]error, error) {
	return p.aggregated.GroupsAndMaybeResources()
}

type plainCached struct {
	DiscoveryInterfaceWithContext
	i CachedDiscoveryInterface
}

func (p plainCached) FreshWithContext(context.Context) bool { return p.i.Fresh() }

func (p plainCached) InvalidateWithContext(context.Context) { p.i.Invalidate() }

type plainGroups struct{ i ServerGroupsInterface }

func (p plainGroups) ServerGroupsWithContext(context.Context) (*metav1.APIGroupList, error) {
	return p.i.ServerGroups()
}

type plainResources struct{ i ServerResourcesInterface }

func (p plainResources) ServerResourcesForGroupVersionWithContext(_ context.Context, groupVersion string) (*metav1.APIResourceList, error) {
	return p.i.ServerResourcesForGroupVersion(groupVersion)
}

func (p plainResources) ServerGroupsAndResourcesWithContext(context.Context) ([]*metav1.APIGroup, []*metav1.APIResourceList, error) {
	return p.i.ServerGroupsAndResources()
}

func (p plainResources) ServerPreferredResourcesWithContext(context.Context) ([]*metav1.APIResourceList, error) {
	return p.i.ServerPreferredResources()
}

func (p plainResources) ServerPreferredNamespacedResourcesWithContext(context.Context) ([]*metav1.APIResourceList, error) {
	return p.i.ServerPreferredNamespacedResources()
}

type plainVersion struct{ i ServerVersionInterface }

func (p plainVersion) ServerVersionWithContext(context.Context) (*version.Info, error) {
	return p.i.ServerVersion()
}

type plainSchema struct{ i OpenAPISchemaInterface }

func (p plainSchema) OpenAPISchemaWithContext(context.Context) (*openapiv2.Document, error) {
	return p.i.OpenAPISchema()
}

type plainV3 struct{ i OpenAPIV3SchemaInterface }

func (p plainV3) OpenAPIV3WithContext(context.Context) openapi.ClientWithContext {
	return openapi.ToClientWithContext(p.i.OpenAPIV3())
}

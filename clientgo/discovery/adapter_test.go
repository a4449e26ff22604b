package discovery_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/apitest"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/openapi"
)

// These types have only the methods without contexts, like implementations in older programs.
type (
	plainClient     struct{ discovery.DiscoveryInterface }
	plainAggregated struct {
		discovery.AggregatedDiscoveryInterface
	}
	plainCached struct {
		discovery.CachedDiscoveryInterface
	}
	plainOpenAPI struct{ openapi.Client }
)

func (p plainClient) OpenAPIV3() openapi.Client {
	return plainOpenAPI{p.DiscoveryInterface.OpenAPIV3()}
}

// An implementation without contexts is adapted. An implementation with contexts is returned
// unchanged.
func TestImplementationsWithoutContexts(t *testing.T) {
	client, ctx := clientOf(t, apitest.Options{}), t.Context()
	require.Same(t, client, discovery.ToDiscoveryInterfaceWithContext(client))
	require.Same(t, client, discovery.ToAggregatedDiscoveryInterfaceWithContext(client))
	cached := memory.NewMemCacheClient(client)
	require.Same(t, cached, discovery.ToCachedDiscoveryInterfaceWithContext(cached))

	_, aggregated := discovery.ToDiscoveryInterfaceWithContext(plainClient{client}).(discovery.AggregatedDiscoveryInterfaceWithContext)
	require.False(t, aggregated)
	_, aggregated = discovery.ToDiscoveryInterfaceWithContext(plainAggregated{client}).(discovery.AggregatedDiscoveryInterfaceWithContext)
	require.True(t, aggregated)
	groups, resources, _, err := discovery.ToAggregatedDiscoveryInterfaceWithContext(plainAggregated{client}).GroupsAndMaybeResourcesWithContext(ctx)
	require.NoError(t, err)
	require.NotEmpty(t, resources)

	for name, adapted := range map[string]discovery.DiscoveryInterfaceWithContext{
		"client":     discovery.ToDiscoveryInterfaceWithContext(plainClient{client}),
		"aggregated": discovery.ToDiscoveryInterfaceWithContext(plainAggregated{client}),
		"cached":     discovery.ToCachedDiscoveryInterfaceWithContext(plainCached{cached}),
		"legacy":     discovery.ToDiscoveryInterfaceWithContext(plainClient{client}).WithLegacyWithContext(ctx),
	} {
		same, err := adapted.ServerGroupsWithContext(ctx)
		require.NoError(t, err, name)
		require.Equal(t, groups.Groups, same.Groups, name)
		for _, ask := range []func(context.Context) ([]*metav1.APIResourceList, error){
			adapted.ServerPreferredResourcesWithContext, adapted.ServerPreferredNamespacedResourcesWithContext,
			func(ctx context.Context) ([]*metav1.APIResourceList, error) {
				_, lists, err := adapted.ServerGroupsAndResourcesWithContext(ctx)
				return lists, err
			},
			func(ctx context.Context) ([]*metav1.APIResourceList, error) {
				_, lists, err := discovery.ServerGroupsAndResourcesWithContext(ctx, adapted)
				return lists, err
			},
			func(ctx context.Context) ([]*metav1.APIResourceList, error) {
				list, err := adapted.ServerResourcesForGroupVersionWithContext(ctx, "v1")
				return []*metav1.APIResourceList{list}, err
			},
		} {
			lists, err := ask(ctx)
			require.NoError(t, err, name)
			require.Contains(t, names(lists)["v1"], "pods", name)
		}
		_, err = adapted.ServerVersionWithContext(ctx)
		require.NoError(t, err, name)
		_, err = adapted.OpenAPISchemaWithContext(ctx)
		require.NoError(t, err, name)
		paths, err := adapted.OpenAPIV3WithContext(ctx).PathsWithContext(ctx)
		require.NoError(t, err, name)
		require.Contains(t, paths, "api/v1", name)
		require.NotNil(t, adapted.RESTClient(), name)
	}
	adapted := discovery.ToCachedDiscoveryInterfaceWithContext(plainCached{cached})
	require.True(t, adapted.FreshWithContext(ctx))
	adapted.InvalidateWithContext(ctx)
	require.False(t, adapted.FreshWithContext(ctx))
}

func TestAdaptersOfSingleInterfaces(t *testing.T) {
	client, ctx := clientOf(t, apitest.Options{}), t.Context()
	p := plainClient{client}
	groups, err := discovery.ToServerGroupsInterfaceWithContext(struct {
		discovery.ServerGroupsInterface
	}{p}).ServerGroupsWithContext(ctx)
	require.NoError(t, err)
	require.NotEmpty(t, groups.Groups)
	list, err := discovery.ToServerResourcesInterfaceWithContext(struct {
		discovery.ServerResourcesInterface
	}{p}).ServerResourcesForGroupVersionWithContext(ctx, "v1")
	require.NoError(t, err)
	require.NotEmpty(t, list.APIResources)
	_, err = discovery.ToServerVersionInterfaceWithContext(struct {
		discovery.ServerVersionInterface
	}{p}).ServerVersionWithContext(ctx)
	require.NoError(t, err)
	_, err = discovery.ToOpenAPISchemaInterfaceWithContext(struct {
		discovery.OpenAPISchemaInterface
	}{p}).OpenAPISchemaWithContext(ctx)
	require.NoError(t, err)
	paths, err := discovery.OpenAPIV3ToSchemaInterfaceWithContext(struct {
		discovery.OpenAPIV3SchemaInterface
	}{p}).OpenAPIV3WithContext(ctx).PathsWithContext(ctx)
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	paths, err = discovery.ToOpenAPIClientWithContext(client.OpenAPIV3()).PathsWithContext(ctx)
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	require.Same(t, client, discovery.ToServerGroupsInterfaceWithContext(client))
	require.Same(t, client, discovery.ToServerResourcesInterfaceWithContext(client))
	require.Same(t, client, discovery.ToServerVersionInterfaceWithContext(client))
	require.Same(t, client, discovery.ToOpenAPISchemaInterfaceWithContext(client))
	require.Same(t, client, discovery.OpenAPIV3ToSchemaInterfaceWithContext(client))
}

func TestAdaptersOfNilAreNil(t *testing.T) {
	require.Nil(t, discovery.ToDiscoveryInterfaceWithContext(nil))
	require.Nil(t, discovery.ToAggregatedDiscoveryInterfaceWithContext(nil))
	require.Nil(t, discovery.ToCachedDiscoveryInterfaceWithContext(nil))
	require.Nil(t, discovery.ToServerGroupsInterfaceWithContext(nil))
	require.Nil(t, discovery.ToServerResourcesInterfaceWithContext(nil))
	require.Nil(t, discovery.ToServerVersionInterfaceWithContext(nil))
	require.Nil(t, discovery.ToOpenAPISchemaInterfaceWithContext(nil))
	require.Nil(t, discovery.OpenAPIV3ToSchemaInterfaceWithContext(nil))
	require.Nil(t, discovery.ToOpenAPIClientWithContext(nil))
}

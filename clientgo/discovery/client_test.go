package discovery_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"

	"github.com/kinform/kinform/apitest"

	"k8s.io/client-go/discovery"
)

func names(lists []*metav1.APIResourceList) map[string][]string {
	all := map[string][]string{}
	for _, list := range lists {
		all[list.GroupVersion] = nil
		for i := range list.APIResources {
			all[list.GroupVersion] = append(all[list.GroupVersion], list.APIResources[i].Name)
		}
	}
	return all
}

// Both forms of discovery give the same result.
func TestAggregatedAndLegacyDiscoveryAgree(t *testing.T) {
	aggregatedClient, legacyClient := clientOf(t, apitest.Options{}), clientOf(t, apitest.Options{NoAggregatedDiscovery: true})
	groups, err := aggregatedClient.ServerGroups()
	require.NoError(t, err)
	require.Empty(t, groups.Groups[0].Name, "the core group is first")
	require.Equal(t, "v1", groups.Groups[0].PreferredVersion.GroupVersion)
	legacyGroups, err := legacyClient.ServerGroups()
	require.NoError(t, err)
	require.Equal(t, legacyGroups.Groups, groups.Groups)

	_, resources, failed, err := aggregatedClient.GroupsAndMaybeResourcesWithContext(t.Context())
	require.NoError(t, err)
	require.Empty(t, failed)
	require.NotNil(t, resources[schema.GroupVersion{Group: "apps", Version: "v1"}])
	for name, of := range map[string]*discovery.DiscoveryClient{"legacy server": legacyClient, "WithLegacy": aggregatedClient.WithLegacy().(*discovery.DiscoveryClient)} {
		_, resources, failed, err = of.GroupsAndMaybeResources()
		require.NoError(t, err, name)
		require.Nil(t, resources, name)
		require.NotNil(t, failed, name)
	}
	require.False(t, aggregatedClient.UseLegacyDiscovery)

	_, all, err := aggregatedClient.ServerGroupsAndResources()
	require.NoError(t, err)
	allGroups, legacyAll, err := legacyClient.ServerGroupsAndResources()
	require.NoError(t, err)
	require.Len(t, allGroups, len(groups.Groups))
	require.Equal(t, names(legacyAll), names(all))
	require.Contains(t, names(all)["apps/v1"], "deployments/scale")

	preferred, err := aggregatedClient.ServerPreferredResources()
	require.NoError(t, err)
	legacyPreferred, err := legacyClient.ServerPreferredResources()
	require.NoError(t, err)
	require.Equal(t, names(legacyPreferred), names(preferred))
	require.NotContains(t, names(preferred)["apps/v1"], "deployments/scale")
	namespaced, err := aggregatedClient.ServerPreferredNamespacedResources()
	require.NoError(t, err)
	require.Contains(t, names(namespaced)["v1"], "pods")
	require.NotContains(t, names(namespaced)["v1"], "nodes")

	core, err := aggregatedClient.ServerResourcesForGroupVersion("v1")
	require.NoError(t, err)
	require.Equal(t, "APIResourceList", core.Kind)
	require.Contains(t, names([]*metav1.APIResourceList{core})["v1"], "pods/status")
}

func TestVersionAndHelpers(t *testing.T) {
	client := clientOf(t, apitest.Options{})
	is, err := client.ServerVersion()
	require.NoError(t, err)
	require.Equal(t, "1", is.Major)
	require.NoError(t, discovery.MatchesServerVersion(*is, client))
	require.ErrorContains(t, discovery.MatchesServerVersion(version.Info{GitVersion: "v0"}, client), "differs from client version")

	require.NoError(t, discovery.ServerSupportsVersion(client, schema.GroupVersion{Group: "apps", Version: "v1"}))
	require.EqualError(t, discovery.ServerSupportsVersion(client, schema.GroupVersion{Group: "apps", Version: "v9"}), `server does not support API version "apps/v9"`)

	for resource, has := range map[schema.GroupVersionResource]bool{
		{Version: "v1", Resource: "pods"}: true, {Version: "v1", Resource: "pod"}: false, {Group: "apps", Version: "v9", Resource: "deployments"}: false,
	} {
		enabled, err := discovery.IsResourceEnabled(client, resource)
		require.NoError(t, err)
		require.Equal(t, has, enabled, resource)
	}
	require.Nil(t, (*discovery.DiscoveryClient)(nil).RESTClient())
}

// Programs use the REST client for other requests too, with objects whose types the client's codec
// does not know.
func TestTheRESTClientDecodesIntoAGivenType(t *testing.T) {
	server := apitest.Start(t, apitest.Options{})
	_, err := server.Create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "a"}})
	require.NoError(t, err)
	client := discovery.NewDiscoveryClientForConfigOrDie(configOf(t, server.URL())).RESTClient()
	namespaces := &corev1.NamespaceList{}
	require.NoError(t, client.Get().AbsPath("/api/v1/namespaces").Do(t.Context()).Into(namespaces))
	require.NotEmpty(t, namespaces.Items)
	namespace := &corev1.Namespace{}
	require.NoError(t, client.Get().AbsPath("/api/v1/namespaces/a").Do(t.Context()).Into(namespace))
	require.Equal(t, "a", namespace.Name)
	require.NoError(t, client.Get().AbsPath("/api/v1/namespaces/a").SetHeader("Accept", "application/vnd.kubernetes.protobuf").Do(t.Context()).Into(namespace))
	require.Equal(t, "a", namespace.Name)
}

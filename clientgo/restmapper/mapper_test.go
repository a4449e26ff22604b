package restmapper_test

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kinform/kinform/apitest"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/fake"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	clienttesting "k8s.io/client-go/testing"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func clientOf(t *testing.T, server *apitest.Server) *discovery.DiscoveryClient {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return discovery.NewDiscoveryClientForConfigOrDie(&rest.Config{Host: server.URL(), Transport: transport, QPS: -1})
}

func resource(name string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Resource: name}
}

// faultyDiscovery is a discovery client that returns fixed lists together with an error.
type faultyDiscovery struct {
	fake.FakeDiscovery
	lists      []*metav1.APIResourceList
	unparsable []*metav1.APIResourceList // lists whose group version is unparsable
	err        error
}

func (f *faultyDiscovery) ServerGroupsAndResourcesWithContext(ctx context.Context) ([]*metav1.APIGroup, []*metav1.APIResourceList, error) {
	if ctx.Err() != nil {
		return nil, nil, ctx.Err()
	}
	if f.lists == nil {
		return nil, nil, f.err
	}
	f.Fake = &clienttesting.Fake{Resources: f.lists}
	groups, lists, _ := f.FakeDiscovery.ServerGroupsAndResourcesWithContext(ctx)
	return groups, append(lists, f.unparsable...), f.err
}

func (f *faultyDiscovery) ServerGroupsAndResources() ([]*metav1.APIGroup, []*metav1.APIResourceList, error) {
	return f.ServerGroupsAndResourcesWithContext(context.Background())
}

func lists() []*metav1.APIResourceList {
	deployments := metav1.APIResource{Name: "deployments", SingularName: "deployment", Namespaced: true, Kind: "Deployment", ShortNames: []string{"deploy"}, Categories: []string{"all"}}
	return []*metav1.APIResourceList{
		{GroupVersion: "metrics.k8s.io/v1", APIResources: []metav1.APIResource{{Name: "nodes", Kind: "NodeMetrics", ShortNames: []string{"no"}}}},
		{GroupVersion: "apps/v1", APIResources: []metav1.APIResource{deployments, {Name: "deployments/scale", Namespaced: true, Group: "autoscaling", Version: "v1", Kind: "Scale"}}},
		{GroupVersion: "apps/v1beta1", APIResources: []metav1.APIResource{deployments, {Name: "olds", Kind: "Old", Categories: []string{"old"}}}},
		{GroupVersion: "v1", APIResources: []metav1.APIResource{
			{Name: "pods", SingularName: "pod", Namespaced: true, Kind: "Pod", ShortNames: []string{"po"}, Categories: []string{"all"}}, {Name: "nodes", SingularName: "node", Kind: "Node", ShortNames: []string{"no", "knoten"}},
		}},
	}
}

func TestTheResourcesOfAServerAreMapped(t *testing.T) {
	groups, err := restmapper.GetAPIGroupResources(clientOf(t, apitest.Start(t, apitest.Options{})))
	require.NoError(t, err)
	mapper := restmapper.NewDiscoveryRESTMapper(groups)
	contextual := restmapper.NewDiscoveryRESTMapperWithContext(groups)
	mapping, err := mapper.RESTMapping(schema.GroupKind{Group: "apps", Kind: "Deployment"})
	require.NoError(t, err)
	require.Equal(t, schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}, mapping.Resource)
	require.Equal(t, meta.RESTScopeNamespace, mapping.Scope)
	same, err := contextual.RESTMappingWithContext(t.Context(), schema.GroupKind{Group: "apps", Kind: "Deployment"}, "v1")
	require.NoError(t, err)
	require.Equal(t, mapping, same)
	mapping, err = mapper.RESTMapping(schema.GroupKind{Kind: "node"})
	require.NoError(t, err)
	require.Equal(t, meta.RESTScopeRoot, mapping.Scope)
	kind, err := mapper.KindFor(resource("pod"))
	require.NoError(t, err)
	require.Equal(t, schema.GroupVersionKind{Version: "v1", Kind: "Pod"}, kind)
	_, err = mapper.KindFor(resource("deployments/scale"))
	require.True(t, meta.IsNoMatchError(err))
	singular, err := mapper.ResourceSingularizer("ingresses")
	require.NoError(t, err)
	require.Equal(t, "ingress", singular)
}

// The core group comes first, whatever its position. The other groups follow in order. Within a
// group the preferred version comes first.
func TestWhichResourceIsPreferred(t *testing.T) {
	groups, err := restmapper.GetAPIGroupResources(&faultyDiscovery{lists: lists()})
	require.NoError(t, err)
	require.Equal(t, "metrics.k8s.io", groups[0].Group.Name)
	mapper := restmapper.NewDiscoveryRESTMapper(groups)
	kind, err := mapper.KindFor(resource("nodes"))
	require.NoError(t, err)
	require.Equal(t, "Node", kind.Kind)
	kinds, err := mapper.KindsFor(resource("nodes"))
	require.NoError(t, err)
	require.Len(t, kinds, 2)
	kind, err = mapper.KindFor(resource("olds"))
	require.NoError(t, err)
	require.Equal(t, "v1beta1", kind.Version, "only version v1beta1 has the resource")

	groups[1].Group.PreferredVersion = metav1.GroupVersionForDiscovery{GroupVersion: "apps/v1beta1", Version: "v1beta1"}
	found, err := restmapper.NewDiscoveryRESTMapper(groups).ResourceFor(resource("deployments"))
	require.NoError(t, err)
	require.Equal(t, "v1beta1", found.Version)
	groups[1].Group.PreferredVersion = metav1.GroupVersionForDiscovery{}
	found, err = restmapper.NewDiscoveryRESTMapper(groups).ResourceFor(resource("deployments"))
	require.NoError(t, err)
	require.Equal(t, "v1", found.Version)
}

func TestTheMapperWorksWithPartialDiscovery(t *testing.T) {
	failed := &discovery.ErrGroupDiscoveryFailed{Groups: map[schema.GroupVersion]error{{Group: "apps", Version: "v1"}: errors.New("x")}}
	groups, err := restmapper.GetAPIGroupResources(&faultyDiscovery{lists: lists()[2:], err: failed})
	require.NoError(t, err)
	require.Len(t, groups, 2)
	groups, err = restmapper.GetAPIGroupResources(&faultyDiscovery{err: failed})
	require.ErrorIs(t, err, failed)
	require.Nil(t, groups)
	// A version without resources has no mapping. Resources without a version have no mapping
	// either.
	found := restmapper.NewDiscoveryRESTMapper([]*restmapper.APIGroupResources{{
		Group:              metav1.APIGroup{Name: "apps", Versions: []metav1.GroupVersionForDiscovery{{Version: "v1"}}, PreferredVersion: metav1.GroupVersionForDiscovery{Version: "v1"}},
		VersionedResources: map[string][]metav1.APIResource{"v2": {{Name: "news", Kind: "New"}}},
	}})
	_, err = found.KindFor(resource("news"))
	require.True(t, meta.IsNoMatchError(err))
}

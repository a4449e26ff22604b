package restmapper_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kinform/kinform/apitest"

	"k8s.io/client-go/discovery/cached/disk"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
)

func TestShortNamesOfAServer(t *testing.T) {
	client := memory.NewMemCacheClient(clientOf(t, apitest.Start(t, apitest.Options{})))
	mapper := restmapper.NewShortcutExpander(restmapper.NewDeferredDiscoveryRESTMapper(client), client, nil)
	for short, kind := range map[string]string{"po": "Pod", "deploy": "Deployment", "cm": "ConfigMap", "pods": "Pod", "svc": "Service"} {
		found, err := mapper.KindFor(resource(short))
		require.NoError(t, err, short)
		require.Equal(t, kind, found.Kind)
		kinds, err := mapper.KindsFor(resource(short))
		require.NoError(t, err, short)
		require.Equal(t, kind, kinds[0].Kind)
	}
	found, err := mapper.ResourceFor(schema.GroupVersionResource{Group: "app", Resource: "deploy"})
	require.NoError(t, err)
	require.Equal(t, schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}, found)
	singular, err := mapper.ResourceSingularizer("deploy")
	require.NoError(t, err)
	require.Equal(t, "deployment", singular)
	_, err = mapper.RESTMapping(schema.GroupKind{Kind: "po"})
	require.True(t, meta.IsNoMatchError(err), "kinds have no short names")
	require.True(t, client.Fresh())
	meta.MaybeResetRESTMapper(mapper)
	require.False(t, client.Fresh(), "the wrapped mapper was reset")
}

func TestShortNamesWithSeveralMeanings(t *testing.T) {
	client := &faultyDiscovery{lists: lists()}
	groups, err := restmapper.GetAPIGroupResources(client)
	require.NoError(t, err)
	var warnings []string
	mapper := restmapper.NewShortcutExpanderWithContext(restmapper.NewDiscoveryRESTMapperWithContext(groups), client, func(w string) { warnings = append(warnings, w) })
	for _, test := range []struct {
		input    schema.GroupVersionResource
		want     string
		warnings []string
	}{
		{resource("no"), "nodes.v1.metrics.k8s.io", []string{`short name "no" could also match lower priority resource nodes`}},
		{schema.GroupVersionResource{Group: "metrics", Resource: "no"}, "nodes.v1.metrics.k8s.io", nil},
		{schema.GroupVersionResource{Group: "metrics.k8s.io", Resource: "no"}, "nodes.v1.metrics.k8s.io", nil},
		// as client-go does
		{schema.GroupVersionResource{Group: "apps", Version: "v1beta1", Resource: "deploy"}, "deployments.v1.apps", nil},
		{schema.GroupVersionResource{Group: "app", Version: "v1beta1", Resource: "deploy"}, "deployments.v1beta1.apps", nil},
		{resource("knoten"), "nodes.v1.", nil},
		{schema.GroupVersionResource{Group: "none", Resource: "no"}, "", nil},
		{resource("NO"), "", nil},
	} {
		warnings = nil
		found, err := mapper.ResourceForWithContext(t.Context(), test.input)
		if test.want == "" {
			require.True(t, meta.IsNoMatchError(err), test.input)
			continue
		}
		require.NoError(t, err, test.input)
		require.Equal(t, test.want, found.Resource+"."+found.Version+"."+found.Group)
		require.Equal(t, test.warnings, warnings, test.input)
	}

	// A full name takes precedence over a short name. Resources of unparsable group versions have
	// no short names.
	client.lists = append(client.lists, &metav1.APIResourceList{GroupVersion: "z/v1", APIResources: []metav1.APIResource{{Name: "zs", ShortNames: []string{"pods", "pod"}}}})
	client.unparsable = []*metav1.APIResourceList{{GroupVersion: "a/b/c", APIResources: []metav1.APIResource{{Name: "bads", ShortNames: []string{"bd"}}}}}
	client.err = errors.New("partial")
	for name, matches := range map[string]bool{"pods": true, "pod": true, "po": true, "bd": false} {
		kind, err := mapper.KindForWithContext(t.Context(), resource(name))
		require.Equal(t, matches, err == nil, name)
		require.Equal(t, matches, kind.Kind == "Pod", name)
	}
	client.lists = nil
	_, err = mapper.KindForWithContext(t.Context(), resource("po"))
	require.True(t, meta.IsNoMatchError(err))
	_, err = mapper.KindForWithContext(t.Context(), resource("pods"))
	require.NoError(t, err)
}

// kubectl and other programs have cache files, and look up kinds that are newer than the files.
func TestAShortNameNewerThanTheCacheIsFound(t *testing.T) {
	server := apitest.Start(t, apitest.Options{})
	dir := t.TempDir()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	open := func() *disk.CachedDiscoveryClient {
		c, err := disk.NewCachedDiscoveryClientForConfig(&rest.Config{Host: server.URL(), Transport: transport, QPS: -1}, dir, "", time.Hour)
		require.NoError(t, err)
		return c
	}
	_, _, err := open().ServerGroupsAndResources()
	require.NoError(t, err)
	require.NoError(t, server.AddResource(apitest.Resource{Group: "example.com", Version: "v1", Plural: "widgets", Kind: "Widget", ShortNames: []string{"wdg"}}))
	client := open()
	mapper := restmapper.NewShortcutExpander(restmapper.NewDeferredDiscoveryRESTMapper(client), client, nil)
	kind, err := mapper.KindFor(resource("wdg"))
	require.NoError(t, err)
	require.Equal(t, "Widget", kind.Kind)
}

func TestCategories(t *testing.T) {
	expander := restmapper.NewDiscoveryCategoryExpander(clientOf(t, apitest.Start(t, apitest.Options{})))
	all, ok := expander.Expand("all")
	require.True(t, ok)
	require.Contains(t, all, schema.GroupResource{Resource: "pods"})
	require.Contains(t, all, schema.GroupResource{Group: "apps", Resource: "deployments"})
}

func TestUnionOfCategories(t *testing.T) {
	pods, deployments, more := schema.GroupResource{Resource: "pods"}, schema.GroupResource{Group: "apps", Resource: "deployments"}, schema.GroupResource{Resource: "more"}
	client := &faultyDiscovery{lists: lists(), err: errors.New("partial")}
	client.unparsable = []*metav1.APIResourceList{{GroupVersion: "a/b/c", APIResources: []metav1.APIResource{{Name: "bads", Categories: []string{"all"}}}}}
	expander := restmapper.NewDiscoveryCategoryExpander(client)
	found, ok := expander.Expand("all")
	require.True(t, ok)
	require.Equal(t, []schema.GroupResource{deployments, pods}, found, "each resource comes once, in the order of the lists")
	found, ok = expander.Expand("none")
	require.False(t, ok)
	require.Nil(t, found)

	simple := restmapper.SimpleCategoryExpander{Expansions: map[string][]schema.GroupResource{"all": {more, pods}, "empty": {}}}
	union := restmapper.UnionCategoryExpander{expander, simple}
	contextual := restmapper.UnionCategoryExpanderWithContext{restmapper.ToCategoryExpanderWithContext(expander), restmapper.ToCategoryExpanderWithContext(simple), restmapper.ToCategoryExpanderWithContext(union)}
	for category, want := range map[string][]schema.GroupResource{"all": {deployments, pods, more}, "old": {{Group: "apps", Resource: "olds"}}, "empty": {}} {
		found, ok = union.Expand(category)
		require.True(t, ok, category)
		require.Equal(t, want, found)
		found, ok = contextual.ExpandWithContext(t.Context(), category)
		require.True(t, ok, category)
		require.Equal(t, want, found)
	}
	found, ok = union.Expand("none")
	require.False(t, ok)
	require.Empty(t, found)
	require.Panics(t, func() { restmapper.NewDiscoveryCategoryExpander(nil) })
}

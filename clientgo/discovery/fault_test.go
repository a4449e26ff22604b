package discovery_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"k8s.io/client-go/discovery"
)

var (
	unavailable = response{503, "text/plain", "service unavailable"}
	forbidden   = response{403, json, `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"no","reason":"Forbidden","code":403}`}
)

var metrics = schema.GroupVersion{Group: "metrics.k8s.io", Version: "v1"}

// If a group fails, the results have all other groups. The failed group is requested once more.
func TestAFailedGroupIsReportedWithTheOtherGroups(t *testing.T) {
	d := legacyDocuments()
	d["/apis/metrics.k8s.io/v1"] = unavailable
	server := serve(t, d)
	client := server.client(t)
	groups, lists, err := client.ServerGroupsAndResources()
	require.True(t, discovery.IsGroupDiscoveryFailedError(err))
	require.EqualError(t, err, "unable to retrieve the complete list of server APIs: metrics.k8s.io/v1: the server is currently unable to handle the request")
	failed, ok := discovery.GroupDiscoveryFailedErrorGroups(fmt.Errorf("x: %w", err))
	require.True(t, ok)
	require.True(t, apierrors.IsServiceUnavailable(failed[metrics]))
	require.Len(t, groups, 3)
	require.Equal(t, map[string][]string{"v1": {"pods", "pods/log", "nodes"}, "apps/v1": {"deployments"}, "apps/v1beta1": {"deployments", "olds"}}, names(lists))
	require.Len(t, server.paths(), 12)

	preferred, err := client.ServerPreferredResources()
	require.True(t, discovery.IsGroupDiscoveryFailedError(err))
	require.Equal(t, map[string][]string{"v1": {"pods", "nodes"}, "apps/v1": {"deployments"}, "apps/v1beta1": {"olds"}}, names(preferred))
	namespaced, err := client.ServerPreferredNamespacedResources()
	require.True(t, discovery.IsGroupDiscoveryFailedError(err))
	require.Equal(t, map[string][]string{"v1": {"pods"}, "apps/v1": {"deployments"}, "apps/v1beta1": {"olds"}}, names(namespaced))

	server.set("/apis/metrics.k8s.io/v1", legacyDocuments()["/apis/metrics.k8s.io/v1"])
	_, lists, err = client.ServerGroupsAndResources()
	require.NoError(t, err)
	require.Contains(t, names(lists), "metrics.k8s.io/v1")
}

func TestErrorsOfDiscovery(t *testing.T) {
	failed := &discovery.ErrGroupDiscoveryFailed{Groups: map[schema.GroupVersion]error{
		{Group: "b", Version: "v1"}: errors.New("x"), {Group: "a", Version: "v1"}: errors.New("y"),
	}}
	require.EqualError(t, failed, "unable to retrieve the complete list of server APIs: a/v1: y, b/v1: x")
	wrapped := fmt.Errorf("w: %w", failed)
	require.False(t, discovery.IsGroupDiscoveryFailedError(wrapped), "as in client-go, the error is not unwrapped")
	require.ErrorIs(t, wrapped, &discovery.ErrGroupDiscoveryFailed{})
	require.NotErrorIs(t, wrapped, errors.New("x"))
	require.False(t, discovery.IsGroupDiscoveryFailedError(nil))
	_, ok := discovery.GroupDiscoveryFailedErrorGroups(errors.New("x"))
	require.False(t, ok)
}

// If the groups cannot be read, the result is only an error.
func TestAnErrorOfTheGroupListIsReturned(t *testing.T) {
	for name, test := range map[string]struct {
		path string
		is   response
		err  func(error) bool
	}{
		"core unavailable":   {"/api", unavailable, apierrors.IsServiceUnavailable},
		"apis unavailable":   {"/apis", unavailable, apierrors.IsServiceUnavailable},
		"apis forbidden":     {"/apis", forbidden, apierrors.IsForbidden},
		"apis missing":       {"/apis", response{404, "text/plain", ""}, apierrors.IsNotFound},
		"core no JSON":       {"/api", response{200, json, "{"}, func(err error) bool { return err != nil }},
		"apis a page":        {"/apis", response{200, "text/html", "<html>"}, func(err error) bool { return err != nil }},
		"aggregated no list": {"/apis", response{200, aggregated, `{"items":3}`}, func(err error) bool { return err != nil }},
	} {
		d := legacyDocuments()
		d[test.path] = test.is
		client := serve(t, d).client(t)
		groups, err := client.ServerGroups()
		require.True(t, test.err(err), "%s: %v", name, err)
		require.Nil(t, groups, name)
		_, resources, failed, err := client.GroupsAndMaybeResources()
		require.Error(t, err, name)
		require.Nil(t, resources, name)
		require.Nil(t, failed, name)
		_, lists, err := client.ServerGroupsAndResources()
		require.True(t, test.err(err), "%s: %v", name, err)
		require.Empty(t, lists, name)
		_, err = client.ServerPreferredResources()
		require.True(t, test.err(err), "%s: %v", name, err)
	}
}

// Extension API servers have no core group.
func TestAServerWithoutACoreGroup(t *testing.T) {
	d := legacyDocuments()
	delete(d, "/api")
	delete(d, "/api/v1")
	client := serve(t, d).client(t)
	groups, lists, err := client.ServerGroupsAndResources()
	require.NoError(t, err)
	require.Len(t, groups, 2)
	require.NotContains(t, names(lists), "v1")
	core, err := client.ServerResourcesForGroupVersion("v1")
	require.NoError(t, err)
	require.Equal(t, &metav1.APIResourceList{GroupVersion: "v1"}, core)
	_, err = client.ServerResourcesForGroupVersion("apps/v9")
	require.True(t, apierrors.IsNotFound(err))
}

// A document of another kind has no resources, and must not count as an empty list.
func TestADocumentOfAnotherKindHasNoResources(t *testing.T) {
	for _, body := range []string{
		`{"kind":"APIGroup","apiVersion":"v1","name":"x"}`, `{`, ``,
		`{"kind":"Status","apiVersion":"v1","status":"Failure","message":"m","reason":"Forbidden","code":403}`,
	} {
		d := legacyDocuments()
		d["/apis/metrics.k8s.io/v1"] = response{200, json, body}
		client := serve(t, d).client(t)
		list, err := client.ServerResourcesForGroupVersion("metrics.k8s.io/v1")
		require.Error(t, err, body)
		require.Nil(t, list, body)
		_, lists, err := client.ServerGroupsAndResources()
		failed, _ := discovery.GroupDiscoveryFailedErrorGroups(err)
		require.Len(t, failed, 1, body)
		require.Len(t, lists, 3, body)
	}
}

const aggregatedCore = `{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[{"metadata":{"name":""},"versions":[{"version":"v1","freshness":"Current","resources":[
	{"resource":"pods","responseKind":{"group":"","version":"v1","kind":"Pod"},"scope":"Namespaced","singularResource":"pod","verbs":["get"],"shortNames":["po"],"categories":["all"],
		"subresources":[{"subresource":"log","responseKind":{"group":"","version":"v1","kind":"Pod"},"verbs":["get"]},{"subresource":"kindless","verbs":["get"]}]}]}]}]}`

const aggregatedGroups = `{"kind":"APIGroupDiscoveryList","apiVersion":"apidiscovery.k8s.io/v2","items":[
	{"metadata":{"name":"metrics.k8s.io"},"versions":[{"version":"v1","freshness":"Stale","resources":[{"resource":"nodes","responseKind":{"kind":"NodeMetrics"},"scope":"Cluster"}]}]},
	{"metadata":{"name":"half"},"versions":[{"version":"v2","freshness":"Stale"},{"version":"v1","resources":[
		{"resource":"onlysub","scope":"Cluster","singularResource":"os","subresources":[{"subresource":"sub","responseKind":{"group":"a","version":"v1","kind":"Sub"}}]},
		{"resource":"nothing","responseKind":{"group":"","version":"","kind":""},"scope":"Cluster"}]}]},
	{"metadata":{"name":"empty"}}]}`

// A stale version is reported as a failure and not as a version: its resources are old, and its
// server is unreachable.
func TestStaleVersionsOfAnAggregatedDocument(t *testing.T) {
	server := serve(t, documents{"/api": {200, aggregated, aggregatedCore}, "/apis": {200, aggregated, aggregatedGroups}})
	client := server.client(t)
	groups, resources, failed, err := client.GroupsAndMaybeResources()
	require.NoError(t, err)
	require.Len(t, groups.Groups, 4)
	require.Empty(t, groups.Groups[1].Versions)
	require.Equal(t, "half/v1", groups.Groups[2].PreferredVersion.GroupVersion)
	require.Len(t, failed, 2)
	require.EqualError(t, failed[metrics], "stale GroupVersion discovery: metrics.k8s.io/v1")
	require.IsType(t, discovery.StaleGroupVersionError{}, failed[metrics])
	require.Len(t, resources, 2)
	require.Equal(t, []metav1.APIResource{{Name: "onlysub/sub", SingularName: "os", Group: "a", Version: "v1", Kind: "Sub"}},
		resources[schema.GroupVersion{Group: "half", Version: "v1"}].APIResources)
	require.Equal(t, []metav1.APIResource{
		{Name: "pods", SingularName: "pod", Namespaced: true, Version: "v1", Kind: "Pod", Verbs: metav1.Verbs{"get"}, ShortNames: []string{"po"}, Categories: []string{"all"}},
		{Name: "pods/log", SingularName: "pod", Namespaced: true, Version: "v1", Kind: "Pod", Verbs: metav1.Verbs{"get"}},
	}, resources[schema.GroupVersion{Version: "v1"}].APIResources)

	server.paths()
	_, lists, err := client.ServerGroupsAndResources()
	require.True(t, discovery.IsGroupDiscoveryFailedError(err))
	require.Len(t, lists, 2)
	require.Equal(t, []string{"/api", "/apis", "/api", "/apis"}, server.paths())
}

// Behind one address there may be servers of two releases. Then only legacy requests find all
// resources.
func TestDiscoveryFallsBackIfOneDocumentIsLegacy(t *testing.T) {
	for path, is := range map[string]response{"/api": {200, aggregated, aggregatedCore}, "/apis": {200, aggregated, aggregatedGroups}} {
		d := legacyDocuments()
		d["/apis/half/v1"] = response{200, json, `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"half/v1","resources":[]}`}
		d[path] = is
		client := serve(t, d).client(t)
		_, resources, _, err := client.GroupsAndMaybeResources()
		require.NoError(t, err, path)
		require.Nil(t, resources, path)
		_, lists, err := client.ServerGroupsAndResources()
		require.Equal(t, []string{"pods", "pods/log", "nodes"}, names(lists)["v1"], path)
		_, stale := discovery.GroupDiscoveryFailedErrorGroups(err)
		require.Equal(t, path == "/apis", stale, "a stale version is reported as a failure")
	}
}

// The names of groups and versions come from the server and become parts of paths. They must not
// lead to other paths.
func TestAServerCannotChooseThePaths(t *testing.T) {
	server := serve(t, documents{
		"/api": {200, json, `{"kind":"APIVersions","versions":["v1","..","../../c2/api/v1/nodes/n/proxy","",".","v1%2f","v1?a=b"]}`},
		"/apis": {200, json, `{"kind":"APIGroupList","groups":[{"name":"..","versions":[{"groupVersion":"apps/v1","version":"v1"}]},
			{"name":"../../c2","versions":[{"version":"v1"}]},{"name":"a/b","versions":[{"version":"v1"}]},{"name":"apps","versions":[{"version":".."}]}]}`},
		"/api/v1": legacyDocuments()["/api/v1"],
	})
	_, lists, err := server.client(t).ServerGroupsAndResources()
	failed, _ := discovery.GroupDiscoveryFailedErrorGroups(err)
	require.Len(t, failed, 10)
	require.Len(t, lists, 1)
	require.Equal(t, []string{"/api", "/apis", "/api/v1", "/api", "/apis", "/api/v1"}, server.paths())
	for _, gv := range []string{"..", "../x", "apps/..", "./x", ""} {
		_, err = server.client(t).ServerResourcesForGroupVersion(gv)
		require.Error(t, err, gv)
	}
	require.Empty(t, server.paths())
}

func TestAContextEndsADiscovery(t *testing.T) {
	server := serve(t, legacyDocuments())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	client := server.client(t)
	_, err := client.ServerGroupsWithContext(ctx)
	require.ErrorIs(t, err, context.Canceled)
	_, _, err = client.ServerGroupsAndResourcesWithContext(ctx)
	require.ErrorIs(t, err, context.Canceled)
	_, err = client.ServerPreferredResourcesWithContext(ctx)
	require.ErrorIs(t, err, context.Canceled)
	_, err = client.ServerPreferredNamespacedResourcesWithContext(ctx)
	require.ErrorIs(t, err, context.Canceled)
	_, err = client.ServerResourcesForGroupVersionWithContext(ctx, "v1")
	require.ErrorIs(t, err, context.Canceled)
	_, err = client.ServerVersionWithContext(ctx)
	require.ErrorIs(t, err, context.Canceled)
	_, err = client.OpenAPISchemaWithContext(ctx)
	require.ErrorIs(t, err, context.Canceled)
	_, err = client.OpenAPIV3WithContext(ctx).PathsWithContext(ctx)
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, server.paths())
}

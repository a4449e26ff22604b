//go:build !kinform_no_openapi

package openapi3_test

import (
	"errors"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kinform/kinform/apitest"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/openapi"
	"k8s.io/client-go/openapi/openapitest"
	"k8s.io/client-go/openapi3"
	"k8s.io/client-go/rest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestDocumentsOfAServer(t *testing.T) {
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	client := discovery.NewDiscoveryClientForConfigOrDie(&rest.Config{Host: apitest.Start(t, apitest.Options{}).URL(), Transport: transport})
	root := openapi3.NewRoot(client.OpenAPIV3())
	found, err := root.GroupVersions()
	require.NoError(t, err)
	apps := schema.GroupVersion{Group: "apps", Version: "v1"}
	require.Contains(t, found, apps)
	require.Contains(t, found, schema.GroupVersion{Version: "v1"})
	document, err := root.GVSpec(apps)
	require.NoError(t, err)
	require.NotEmpty(t, document.Components.Schemas)
	require.Contains(t, document.Paths.Paths, "/apis/apps/v1/namespaces/{namespace}/deployments")
	asMap, err := root.GVSpecAsMap(apps)
	require.NoError(t, err)
	require.Equal(t, document.Version, asMap["openapi"])
	var missing *openapi3.GroupVersionNotFoundError
	_, err = root.GVSpec(schema.GroupVersion{Group: "none", Version: "v1"})
	require.ErrorAs(t, err, &missing)
	require.EqualError(t, err, "GroupVersion (none/v1) not found as OpenAPI V3 path")
}

func TestInvalidPathsAndDocumentsAreErrors(t *testing.T) {
	client := openapitest.NewFakeClient()
	root := openapi3.NewRoot(client)
	for _, path := range []string{"apis/b/v1", "apis/a/v2", "apis/a/v10", "api/v1", "apis", "apis/a", "apis/a/v1/x", "version", "", ".well-known/openid-configuration", "/apis/x/v1"} {
		client.PathsMap[path] = openapitest.FakeGroupVersion{GVSpec: []byte("{")}
	}
	client.PathsMap["apis/failing/v1"] = openapitest.FakeGroupVersion{ForcedErr: errors.New("forced")}
	found, err := root.GroupVersions()
	require.NoError(t, err)
	require.Equal(t, []schema.GroupVersion{
		{Group: "a", Version: "v10"}, {Group: "a", Version: "v2"}, {Group: "b", Version: "v1"}, {Group: "failing", Version: "v1"}, {Version: "v1"},
	}, found)
	_, err = root.GVSpec(schema.GroupVersion{Version: "v1"})
	require.ErrorContains(t, err, "JSON")
	_, err = root.GVSpecAsMap(schema.GroupVersion{Group: "failing", Version: "v1"})
	require.EqualError(t, err, "forced")
	client.ForcedErr = errors.New("all")
	_, err = root.GroupVersions()
	require.EqualError(t, err, "all")
	_, err = root.GVSpecAsMap(schema.GroupVersion{Version: "v1"})
	require.EqualError(t, err, "all")
	_, err = openapi.NewTypeConverter(client, false)
	require.ErrorContains(t, err, "all")
}

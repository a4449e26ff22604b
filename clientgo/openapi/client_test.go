//go:build !kinform_no_openapi

package openapi_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/kinform/kinform/apitest"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func clientOf(t *testing.T, url string) *discovery.DiscoveryClient {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return discovery.NewDiscoveryClientForConfigOrDie(&rest.Config{Host: url, Transport: transport})
}

func TestDocumentsOfAServer(t *testing.T) {
	client := clientOf(t, apitest.Start(t, apitest.Options{}).URL())
	paths, err := client.OpenAPIV3().Paths()
	require.NoError(t, err)
	apps := paths["apis/apps/v1"]
	require.NotNil(t, apps)
	require.Contains(t, apps.ServerRelativeURL(), "/openapi/v3/apis/apps/v1")
	body, err := apps.Schema("application/json")
	require.NoError(t, err)
	var document struct{ OpenAPI string }
	require.NoError(t, json.Unmarshal(body, &document))
	require.Equal(t, "3.0.0", document.OpenAPI)

	contextual, err := client.OpenAPIV3WithContext(t.Context()).PathsWithContext(t.Context())
	require.NoError(t, err)
	require.Len(t, contextual, len(paths))
	same, err := contextual["apis/apps/v1"].SchemaWithContext(t.Context(), "application/json")
	require.NoError(t, err)
	require.Equal(t, body, same)

	whole, err := client.OpenAPISchema()
	require.NoError(t, err)
	require.Equal(t, "2.0", whole.Swagger)
}

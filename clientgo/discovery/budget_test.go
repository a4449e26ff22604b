package discovery_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"k8s.io/client-go/discovery"
)

// A document is decoded only if it has a plausible number of objects. Otherwise a small body could
// fill the memory.
func TestADocumentWithTooManyObjectsIsNotDecoded(t *testing.T) {
	bomb := "[{}" + strings.Repeat(",{}", 1_000_000) + "]"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		kind, field := json, "resources"
		if r.URL.Path == "/api" || r.URL.Path == "/apis" {
			kind, field = aggregated, "items"
		}
		w.Header().Set("Content-Type", kind)
		_, _ = fmt.Fprintf(w, `{"kind":"APIResourceList","apiVersion":"v1",%q:%s}`, field, bomb)
	}))
	t.Cleanup(server.Close)
	client := discovery.NewDiscoveryClientForConfigOrDie(configOf(t, server.URL))
	_, err := client.ServerGroups()
	require.ErrorContains(t, err, "1000002 objects")
	_, err = client.ServerResourcesForGroupVersion("apps/v1")
	require.ErrorContains(t, err, "1000002 objects")
}

// Without a limit, the client would send a request for each version.
func TestTheNumberOfVersionRequestsIsBounded(t *testing.T) {
	d := legacyDocuments()
	d["/apis"] = response{200, json, `{"groups":[{"name":"a","versions":[{}` + strings.Repeat(`,{"version":"v1"}`, 10_000) + `]}]}`}
	server := serve(t, d)
	_, _, err := server.client(t).ServerGroupsAndResources()
	require.ErrorContains(t, err, "10001 group versions")
	require.Equal(t, []string{"/api", "/apis"}, server.paths())
}

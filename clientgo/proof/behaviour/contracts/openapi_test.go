package contracts

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/openapi"
	restclient "k8s.io/client-go/rest"
)

// The client's server URL has a path prefix. The document URLs that the server returns may have the
// prefix, lack it, or lead elsewhere.
func TestADocumentBelowAPathPrefixIsFound(t *testing.T) {
	for name, c := range map[string]struct{ prefix, url, relative, asked string }{
		"server knows the prefix": {"/proxy", "/proxy/openapi/v3/apis/apps/v1?hash=1", "/openapi/v3/apis/apps/v1?hash=1", "/proxy/openapi/v3/apis/apps/v1?hash=1&timeout=32s"},
		"server does not know it": {"/proxy", "/openapi/v3/apis/apps/v1?hash=1", "/openapi/v3/apis/apps/v1?hash=1", "/proxy/openapi/v3/apis/apps/v1?hash=1&timeout=32s"},
		"no prefix":               {"", "/openapi/v3/apis/apps/v1?hash=1", "/openapi/v3/apis/apps/v1?hash=1", "/openapi/v3/apis/apps/v1?hash=1&timeout=32s"},
		"another path":            {"/proxy", "/static/apps.json?hash=1", "/static/apps.json?hash=1", "/proxy/static/apps.json?hash=1&timeout=32s"},
		"another path, prefixed":  {"/proxy", "/proxy/static/apps.json?hash=1", "/static/apps.json?hash=1", "/proxy/static/apps.json?hash=1&timeout=32s"},
	} {
		t.Run(name, func(t *testing.T) {
			var asked string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				if r.URL.Path == c.prefix+"/openapi/v3" {
					fmt.Fprintf(w, `{"paths":{"apis/apps/v1":{"serverRelativeURL":%q}}}`, c.url)
					return
				}
				asked = r.URL.RequestURI()
				fmt.Fprint(w, "{}")
			}))
			defer server.Close()
			client := discovery.NewDiscoveryClientForConfigOrDie(&restclient.Config{Host: server.URL + c.prefix}).OpenAPIV3()
			plain, err := client.Paths()
			require.NoError(t, err)
			contextual, err := openapi.ToClientWithContext(client).PathsWithContext(t.Context())
			require.NoError(t, err)
			require.Equal(t, c.relative, plain["apis/apps/v1"].ServerRelativeURL())
			require.Equal(t, c.relative, contextual["apis/apps/v1"].ServerRelativeURL())
			_, err = plain["apis/apps/v1"].Schema("application/json")
			require.NoError(t, err)
			require.Equal(t, c.asked, asked)
		})
	}
}

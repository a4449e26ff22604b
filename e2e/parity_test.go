package e2e_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	clientrest "k8s.io/client-go/rest"

	"github.com/kinform/kinform/apitest"
)

// side is one of the two servers that a test runs against.
type side struct {
	name   string
	config *clientrest.Config // the administrator's configuration
}

// eachSide runs a test against the real API server, and then against apitest.
func eachSide(t *testing.T, play func(t *testing.T, s side)) {
	real := administrator()
	memory := apitest.Start(t, apitest.Options{ManagedFields: true})
	for _, s := range []side{{"real", real}, {"apitest", &clientrest.Config{Host: memory.URL(), QPS: -1}}} {
		t.Run(s.name, func(t *testing.T) { play(t, s) })
	}
}

// administrator returns client-go's configuration for the real API server. The configuration has no
// rate limit, because the tests send many small requests.
func administrator() *clientrest.Config {
	config := kube.Config()
	return &clientrest.Config{Host: config.Host, BearerTokenFile: config.BearerTokenFile, QPS: -1,
		TLSClientConfig: clientrest.TLSClientConfig{CAData: config.TLS.CAData}}
}

// requireSameResults runs a test against both servers, and requires equal results.
func requireSameResults(t *testing.T, play func(t *testing.T, s side) []string) {
	var first []string
	eachSide(t, func(t *testing.T, s side) {
		results := play(t, s)
		require.NotEmpty(t, results)
		if first == nil {
			first = results
			return
		}
		require.Equal(t, strings.Join(first, "\n"), strings.Join(results, "\n"))
	})
}

package kubeconfig_test

import (
	"crypto/tls"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/rest/kubeconfig"
)

// reach writes a connection to a file, loads it, and sends a request to the server.
func reach(t *testing.T, conn kubeconfig.Connection) error {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config")
	require.NoError(t, kubeconfig.Write(path, conn))
	loaded, err := kubeconfig.Load(kubeconfig.Options{Path: path})
	require.NoError(t, err)
	client, err := rest.NewClient(loaded.Config, rest.Options{})
	require.NoError(t, err)
	defer client.Close()
	_, err = client.Raw(t.Context(), http.MethodGet, "/api/v1/pods", rest.RawOptions{})
	return err
}

func TestWrittenFileConnectsWithTLSAndToken(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{TLS: true, BearerToken: secret})
	conn := kubeconfig.Connection{Config: rest.Config{Host: s.URL(), TLS: rest.TLSConfig{CAData: s.CA()}}}
	require.True(t, apierrors.IsUnauthorized(reach(t, conn)))

	conn.Config.BearerToken = rest.NewSecret(secret)
	require.NoError(t, reach(t, conn))

	conn.Config.TLS = rest.TLSConfig{}
	require.ErrorContains(t, reach(t, conn), "certificate")
}

func TestWrittenFileConnectsWithClientCertificate(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, apitest.Options{TLS: true, ClientCertificates: true})
	certificate, key := s.ClientCertificate()
	require.NoError(t, reach(t, kubeconfig.Connection{Config: rest.Config{Host: s.URL(), TLS: rest.TLSConfig{
		CAData: s.CA(), CertData: certificate, KeyData: rest.NewSecret(key), KeyPair: tls.X509KeyPair,
	}}}))
}

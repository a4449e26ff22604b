package rest

import (
	"crypto/tls"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// A server restarts with a certificate from a new CA. The first request fails. The next request
// reloads the CA bundle, although the last read is not a minute old.
func TestUnverifiedCertificateReloadsTheCABundle(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "ca.crt")
	var current atomic.Pointer[tls.Certificate]
	renew := func() {
		cert, key := certificate(t, "memory")
		pair, err := tls.X509KeyPair(cert, key)
		require.NoError(t, err)
		current.Store(&pair)
		require.NoError(t, os.WriteFile(file, cert, 0o600))
	}
	renew()
	server := httptest.NewUnstartedServer(whoami())
	server.TLS = &tls.Config{GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return current.Load(), nil }}
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	client, err := NewClient(Config{Host: server.URL, TLS: TLSConfig{CAFile: file, ServerName: "memory"}}, Options{})
	require.NoError(t, err)
	defer client.Close()
	_, err = get(t.Context(), client)
	require.NoError(t, err)

	renew()
	server.CloseClientConnections()
	_, err = get(t.Context(), client)
	var untrusted *tls.CertificateVerificationError
	require.ErrorAs(t, err, &untrusted)
	_, err = get(t.Context(), client)
	require.NoError(t, err)
}

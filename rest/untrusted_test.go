package rest

import (
	"crypto/tls"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// A server that comes back with a certificate by a new authority is trusted by the
// request after the one that failed, and not a minute later.
func TestCertificateThatCannotBeVerifiedHasTheFilesReadAgain(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "ca.crt")
	synctest.Test(t, func(t *testing.T) {
		server := newTLSServer(t, whoami())
		defer server.stop()
		require.NoError(t, os.WriteFile(file, server.renew(t), 0o600))
		client, err := NewClient(Config{
			Host: "https://memory", DialContext: server.network.DialContext, TLS: TLSConfig{CAFile: file},
		}, Options{})
		require.NoError(t, err)
		defer client.Close()
		_, err = get(t.Context(), client)
		require.NoError(t, err)

		require.NoError(t, os.WriteFile(file, server.renew(t), 0o600))
		synctest.Wait() // until the connection is idle
		client.transports.get(nil).CloseIdleConnections()
		_, err = get(t.Context(), client)
		var untrusted *tls.CertificateVerificationError
		require.ErrorAs(t, err, &untrusted)
		_, err = get(t.Context(), client)
		require.NoError(t, err)
	})
}

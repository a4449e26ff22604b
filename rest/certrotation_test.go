package rest

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/rest/internal/transport"
)

// tlsServer serves HTTP/2 in a bubble, with a certificate that a test can replace.
type tlsServer struct {
	network     *memoryListener
	certificate atomic.Pointer[tls.Certificate]
	stop        func()
}

// newTLSServer starts a server. stop must be called before the bubble ends.
func newTLSServer(t *testing.T, handler http.Handler) *tlsServer {
	s := &tlsServer{network: newMemoryListener()}
	server := &http.Server{
		Handler:  handler,
		ErrorLog: log.New(io.Discard, "", 0), // refused handshakes are part of the tests
		TLSConfig: &tls.Config{
			ClientAuth:     tls.RequestClientCert,
			GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return s.certificate.Load(), nil },
		},
	}
	var group sync.WaitGroup
	group.Go(func() { _ = server.ServeTLS(s.network, "", "") })
	s.stop = func() {
		_ = server.Close()
		group.Wait()
	}
	return s
}

// renew gives the server a certificate from a new CA, and returns the CA bundle.
func (s *tlsServer) renew(t *testing.T) (ca []byte) {
	cert, key := certificate(t, "memory")
	pair, err := tls.X509KeyPair(cert, key)
	require.NoError(t, err)
	s.certificate.Store(&pair)
	return cert
}

// whoami keeps a watch open without events, and responds to other requests with the name in the
// client's certificate. If welcome is not empty and lacks this name, whoami responds with 401.
func whoami(welcome ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("watch") {
			silent(nil, JSON)(w, r)
			return
		}
		name := "nobody"
		if len(r.TLS.PeerCertificates) > 0 {
			name = r.TLS.PeerCertificates[0].Subject.CommonName
		}
		for _, other := range welcome {
			if name != other {
				w.WriteHeader(http.StatusUnauthorized)
			}
		}
		_, _ = io.WriteString(w, name)
	}
}

func get(ctx context.Context, client *Client) (string, error) {
	body, err := client.Raw(ctx, http.MethodGet, "/", RawOptions{})
	return string(body), err
}

// openWatch opens a watch without events. requireOpen checks that the watch is still open and
// silent, and closes it.
func openWatch(t *testing.T, client *Client) (requireOpen func()) {
	ctx, cancel := context.WithCancel(t.Context())
	stream, err := pods(client).Watch(ctx, listwatch.WatchOptions{})
	require.NoError(t, err)
	ended := make(chan error, 1)
	go func() {
		_, err := stream.Next()
		ended <- err
	}()
	return func() {
		synctest.Wait()
		require.Empty(t, ended, "the watch has ended")
		cancel()
		require.ErrorIs(t, <-ended, context.Canceled)
		require.NoError(t, stream.Close())
	}
}

func TestNewCABundleIsTrustedWithoutRestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "ca.crt")
	write := func(data []byte) { require.NoError(t, os.WriteFile(file, data, 0o600)) }
	synctest.Test(t, func(t *testing.T) {
		server := newTLSServer(t, whoami())
		defer server.stop()
		write(server.renew(t))
		var log bytes.Buffer
		client, err := NewClient(Config{
			Host: "https://memory", DialContext: server.network.DialContext, TLS: TLSConfig{CAFile: file},
		}, Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		require.NoError(t, err)
		defer client.Close()
		requireOpen := openWatch(t, client)

		write([]byte("half written"))
		time.Sleep(transport.ReloadInterval)
		_, err = get(t.Context(), client)
		require.NoError(t, err, "the last valid CA bundle must stay in use")
		require.Contains(t, log.String(), "the CA bundle holds no certificate in PEM")
		require.Equal(t, 1, client.Stats().Connections)

		write(server.renew(t))
		_, err = get(t.Context(), client)
		require.NoError(t, err, "an open connection must still work after a change of the CA")
		time.Sleep(transport.ReloadInterval)
		_, err = get(t.Context(), client)
		require.NoError(t, err)
		require.Equal(t, 2, client.Stats().Connections, "one connection must serve the watch, and a second one must use the new CA bundle")

		server.renew(t)
		synctest.Wait() // waits until the connection is idle
		client.transport.CloseIdle()
		_, err = get(t.Context(), client)
		require.Error(t, err, "the client must not trust a server whose CA is not in the file")
		requireOpen()
	})
}

func TestRenewedClientCertificateIsUsed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cfg := TLSConfig{CertFile: filepath.Join(dir, "cert"), KeyFile: filepath.Join(dir, "key"), KeyPair: tls.X509KeyPair, Insecure: true}
	write := func(cert, key []byte) {
		require.NoError(t, os.WriteFile(cfg.CertFile, cert, 0o600))
		require.NoError(t, os.WriteFile(cfg.KeyFile, key, 0o600))
	}
	synctest.Test(t, func(t *testing.T) {
		write(certificate(t, "alice"))
		server := newTLSServer(t, whoami())
		defer server.stop()
		server.renew(t)
		client, err := NewClient(Config{Host: "https://memory", DialContext: server.network.DialContext, TLS: cfg}, Options{})
		require.NoError(t, err)
		defer client.Close()
		requireOpen := openWatch(t, client)
		after := func(d time.Duration) string {
			time.Sleep(d)
			name, err := get(t.Context(), client)
			require.NoError(t, err)
			return name
		}
		require.Equal(t, "alice", after(0))

		cert, key := certificate(t, "bob")
		write(cert, []byte("half written"))
		require.Equal(t, "alice", after(transport.ReloadInterval), "the last valid certificate must stay in use")
		write(cert, key)
		require.Equal(t, "alice", after(transport.ReloadInterval-1))
		require.Equal(t, "bob", after(1), "a new request must use a new connection, not the watch's connection")
		requireOpen()
	})
}

func TestUnauthorizedReloadsTheCertificate(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cfg := TLSConfig{CertFile: filepath.Join(dir, "cert"), KeyFile: filepath.Join(dir, "key"), KeyPair: tls.X509KeyPair, Insecure: true}
	write := func(cert, key []byte) {
		require.NoError(t, os.WriteFile(cfg.CertFile, cert, 0o600))
		require.NoError(t, os.WriteFile(cfg.KeyFile, key, 0o600))
	}
	synctest.Test(t, func(t *testing.T) {
		write(certificate(t, "alice"))
		server := newTLSServer(t, whoami("bob"))
		defer server.stop()
		server.renew(t)
		client, err := NewClient(Config{Host: "https://memory", DialContext: server.network.DialContext, TLS: cfg}, Options{})
		require.NoError(t, err)
		defer client.Close()
		write(certificate(t, "bob"))
		name, err := get(t.Context(), client)
		require.NoError(t, err)
		require.Equal(t, "bob", name)
		require.EqualValues(t, 1, client.Stats().Retries)
	})
}

// credentialList returns its credentials one after the other.
type credentialList struct {
	credentials []*Credential
	calls       int
}

func (s *credentialList) get(ctx context.Context, refused *Credential) (*Credential, error) {
	s.calls++
	if len(s.credentials) > 1 && refused == s.credentials[0] {
		s.credentials = s.credentials[1:]
	}
	return s.credentials[0], ctx.Err()
}

func TestRefusedCredentialIsReplaced(t *testing.T) {
	t.Parallel()
	source := &credentialList{credentials: []*Credential{{Token: NewSecret("old")}, {Token: NewSecret("new")}}}
	handler := &authServer{want: "Bearer new"}
	client, err := NewClient(Config{Host: serve(t, handler, Options{}).base.String(), Credentials: source.get}, Options{})
	require.NoError(t, err)
	defer client.Close()
	require.Zero(t, source.calls, "NewClient must not call Credentials")
	_, err = get(t.Context(), client)
	require.NoError(t, err)
	require.Equal(t, 2, source.calls)
	handler.wants("Bearer newer")
	_, err = get(t.Context(), client)
	require.True(t, apierrors.IsUnauthorized(err), "the client must retry only once after a 401")
	require.NotContains(t, err.Error(), "new")
	require.Equal(t, 4, source.calls)
}

func TestNewConnectionsUseTheCredentialCertificate(t *testing.T) {
	t.Parallel()
	pair := func(name string) func() *tls.Certificate {
		pair, err := tls.X509KeyPair(certificate(t, name))
		require.NoError(t, err)
		return func() *tls.Certificate { return &pair }
	}
	synctest.Test(t, func(t *testing.T) {
		source := &credentialList{credentials: []*Credential{{Certificate: pair("alice")}}}
		server := newTLSServer(t, whoami())
		defer server.stop()
		server.renew(t)
		client, err := NewClient(Config{
			Host: "https://memory", DialContext: server.network.DialContext, Credentials: source.get, TLS: TLSConfig{Insecure: true},
		}, Options{})
		require.NoError(t, err)
		defer client.Close()
		requireOpen := openWatch(t, client)
		name, err := get(t.Context(), client)
		require.NoError(t, err)
		require.Equal(t, "alice", name)
		require.Equal(t, 1, client.Stats().Connections)

		source.credentials = []*Credential{{Certificate: pair("bob")}}
		name, err = get(t.Context(), client)
		require.NoError(t, err)
		require.Equal(t, "bob", name)

		source.credentials = []*Credential{{Token: NewSecret("now a token")}}
		name, err = get(t.Context(), client)
		require.NoError(t, err)
		require.Equal(t, "nobody", name, "the client must not use the certificate of an earlier credential")
		requireOpen()
	})
}

func TestFailingCredentialSource(t *testing.T) {
	t.Parallel()
	failed := errors.New("no luck")
	client, err := NewClient(Config{
		Host: "http://127.0.0.1:1", Credentials: func(context.Context, *Credential) (*Credential, error) { return nil, failed },
	}, Options{})
	require.NoError(t, err)
	defer client.Close()
	_, err = get(t.Context(), client)
	require.ErrorIs(t, err, failed)
	require.EqualError(t, err, "GET http://127.0.0.1:1/: credentials: no luck")

	client, err = NewClient(Config{
		Host: "http://127.0.0.1:1", Credentials: func(context.Context, *Credential) (*Credential, error) { return nil, nil },
	}, Options{})
	require.NoError(t, err)
	defer client.Close()
	_, err = get(t.Context(), client)
	require.ErrorContains(t, err, "credentials: the function Credentials returned neither a credential nor an error")

	for _, cfg := range []Config{
		{BearerToken: NewSecret("a")}, {BearerTokenFile: "/a"}, {Username: "a"}, {TLS: TLSConfig{CertFile: "/a", KeyFile: "/a"}},
	} {
		cfg.Host, cfg.Credentials = "host", (&credentialList{}).get
		_, err = NewClient(cfg, Options{})
		require.ErrorContains(t, err, "Credentials excludes")
	}
}

// A source may read and parse its files for each request. The client needs new connections only if
// the contents of the certificate have changed.
func TestReparsedCertificateKeepsConnections(t *testing.T) {
	t.Parallel()
	aliceCert, aliceKey := certificate(t, "alice")
	bobCert, bobKey := certificate(t, "bob")
	synctest.Test(t, func(t *testing.T) {
		server := newTLSServer(t, whoami())
		defer server.stop()
		server.renew(t)
		cert, key := aliceCert, aliceKey
		client, err := NewClient(Config{
			Host: "https://memory", DialContext: server.network.DialContext, TLS: TLSConfig{Insecure: true},
			Credentials: func(context.Context, *Credential) (*Credential, error) {
				pair, err := tls.X509KeyPair(cert, key)
				return &Credential{Certificate: func() *tls.Certificate { return &pair }}, err
			},
		}, Options{})
		require.NoError(t, err)
		defer client.Close()
		for range 20 {
			name, err := get(t.Context(), client)
			require.NoError(t, err)
			require.Equal(t, "alice", name)
			require.Equal(t, 1, client.Stats().Connections)
		}
		for i := range 20 { // the certificates alternate
			cert, key = bobCert, bobKey
			if i%2 == 1 {
				cert, key = aliceCert, aliceKey
			}
			_, err := get(t.Context(), client)
			require.NoError(t, err)
			require.LessOrEqual(t, client.Stats().Connections, 3, "connections with the other certificate must be closed soon")
		}
		synctest.Wait()
		_, err = get(t.Context(), client)
		require.NoError(t, err)
		require.Equal(t, 1, client.Stats().Connections)
	})
}

package rest

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	encpem "encoding/pem"
	"errors"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/internal/testing/testsize"
	"github.com/kinform/kinform/listwatch"
)

// certificate returns a self-signed certificate, for a server or a client, and its key, in PEM.
func certificate(t testing.TB, name string, addresses ...net.IP) (cert, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name}, IPAddresses: addresses, NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	require.NoError(t, err)
	keyDER, err := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(t, err)
	return encpem.EncodeToMemory(&encpem.Block{Type: "CERTIFICATE", Bytes: der}),
		encpem.EncodeToMemory(&encpem.Block{Type: "PRIVATE KEY", Bytes: keyDER})
}

// serveTLS starts a server with HTTP/2 that requests a client certificate.
func serveTLS(t testing.TB, handler http.Handler) (url string, ca []byte) {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	server.EnableHTTP2 = true
	server.TLS = &tls.Config{ClientAuth: tls.RequestClientCert}
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // refused handshakes are part of the test
	server.StartTLS()
	t.Cleanup(server.Close)
	return server.URL, encpem.EncodeToMemory(&encpem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
}

func TestTLSWithClientCertificate(t *testing.T) {
	t.Parallel()
	url, ca := serveTLS(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := "nobody"
		if len(r.TLS.PeerCertificates) > 0 {
			name = r.TLS.PeerCertificates[0].Subject.CommonName
		}
		_, _ = io.WriteString(w, r.Proto+" "+name)
	}))
	get := func(cfg TLSConfig) (string, error) {
		client, err := NewClient(Config{Host: url, TLS: cfg}, Options{})
		require.NoError(t, err)
		defer client.Close()
		body, err := client.Raw(t.Context(), http.MethodGet, "/", RawOptions{})
		return string(body), err
	}
	_, err := get(TLSConfig{})
	require.ErrorContains(t, err, "certificate", "without the CA bundle, the server must not be trusted")

	who, err := get(TLSConfig{CAData: ca})
	require.NoError(t, err)
	require.Equal(t, "HTTP/2.0 nobody", who)

	who, err = get(TLSConfig{Insecure: true})
	require.NoError(t, err)
	require.Equal(t, "HTTP/2.0 nobody", who)

	_, err = get(TLSConfig{CAData: ca, ServerName: "other.invalid"})
	require.ErrorContains(t, err, "other.invalid")

	cert, key := certificate(t, "alice")
	who, err = get(TLSConfig{CAData: ca, CertData: cert, KeyData: NewSecret(key), KeyPair: tls.X509KeyPair})
	require.NoError(t, err)
	require.Equal(t, "HTTP/2.0 alice", who)
}

func TestStreamsOverHTTP2(t *testing.T) {
	t.Parallel()
	for _, e := range encodings {
		body := podList(t, e, "1", plainPods(500)...)
		url, ca := serveTLS(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Query().Has("watch") {
				silent(nil, e)(w, r)
				return
			}
			cannedResponse{contentType(e), bytes.NewReader(body)}.ServeHTTP(w, r)
		}))
		client, err := NewClient(Config{Host: url, TLS: TLSConfig{CAData: ca}}, Options{})
		require.NoError(t, err)
		watch, err := pods(client).Watch(t.Context(), listwatch.WatchOptions{})
		require.NoError(t, err)
		list, err := pods(client).List(t.Context(), listwatch.ListOptions{})
		require.NoError(t, err)
		items, _, err := drainList(list)
		require.Equal(t, io.EOF, err)
		require.Len(t, items, 500)
		require.NoError(t, list.Close())
		require.Equal(t, 1, client.Stats().Connections, "the watch and the list must use one connection")
		require.NoError(t, watch.Close())
		client.Close()
		require.Zero(t, client.Stats().Connections)
	}
}

// deadPeerConn is a connection to a peer that acknowledges nothing after a certain moment.
type deadPeerConn struct {
	net.Conn
	since   chan struct{}
	nowhere net.Conn
}

func (m *deadPeerConn) Write(p []byte) (int, error) {
	select {
	case <-m.since:
		return m.nowhere.Write(p)
	default:
		return m.Conn.Write(p)
	}
}

// SetWriteDeadline makes the deadline pass at once, because the test only checks that there is a
// deadline.
func (m *deadPeerConn) SetWriteDeadline(t time.Time) error {
	return errors.Join(m.Conn.SetWriteDeadline(t), m.nowhere.SetWriteDeadline(time.Now()))
}

func (m *deadPeerConn) Close() error { return errors.Join(m.Conn.Close(), m.nowhere.Close()) }

func TestCloseOverHTTP2DoesNotWaitForADeadPeer(t *testing.T) { // G10
	t.Parallel()
	testsize.SkipIfShort(t, "sends 5,000 pods")
	body := podList(t, JSON, "1", plainPods(5000)...)
	url, ca := serveTLS(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		cannedResponse{mediaTypeJSON, bytes.NewReader(body)}.ServeHTTP(w, nil)
	}))
	dead := make(chan struct{})
	client, err := NewClient(Config{Host: url, TLS: TLSConfig{CAData: ca}, DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, addr)
		nowhere, _ := net.Pipe()
		return &deadPeerConn{Conn: conn, since: dead, nowhere: nowhere}, err
	}}, Options{})
	require.NoError(t, err)
	defer client.Close()
	list, err := pods(client).List(t.Context(), listwatch.ListOptions{})
	require.NoError(t, err)
	// More bytes have arrived than the client reads ahead. On close, the client has to return the
	// rest to the peer's flow-control window, which requires a write.
	require.Eventually(t, func() bool { return client.Stats().BytesReceived > 4<<20 }, time.Minute, time.Millisecond)
	close(dead)
	require.NoError(t, list.Close())
}

// serveForProxies starts a server with an empty list of pods and silent watches. It returns its
// address, and a function for more listeners with the same certificate. This certificate is valid
// for kube.invalid and for loopback.
func serveForProxies(t *testing.T) (address string, ca []byte, listenTLS func() net.Listener) {
	cert, key := certificate(t, "kube.invalid", net.IPv4(127, 0, 0, 1))
	pair, err := tls.X509KeyPair(cert, key)
	require.NoError(t, err)
	body := podList(t, JSON, "1")
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Has("watch") {
			silent(nil, JSON)(w, r)
			return
		}
		w.Header().Set("Content-Type", mediaTypeJSON)
		_, _ = w.Write(body)
	}))
	server.EnableHTTP2 = true
	server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
	server.StartTLS()
	t.Cleanup(server.Close)
	return server.Listener.Addr().String(), cert, func() net.Listener {
		return tls.NewListener(listen(t), &tls.Config{Certificates: []tls.Certificate{pair}})
	}
}

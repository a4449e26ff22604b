package apitest_test

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/apitest"
)

func TestBearerToken(t *testing.T) {
	t.Parallel()
	srv, c := start(t, apitest.Options{BearerToken: "one"})
	for _, header := range []string{"", "Bearer two", "Basic one", "one"} {
		status := c.fails(t, http.StatusUnauthorized, "GET", "/api/v1/pods", "", "Authorization", header)
		require.Equal(t, metav1.StatusReasonUnauthorized, status.Reason)
	}
	c.fails(t, http.StatusUnauthorized, "GET", "/apis", "")
	c.do(t, http.StatusOK, "GET", "/api/v1/pods", "", "Authorization", "Bearer one")
	srv.SetBearerToken("two")
	c.fails(t, http.StatusUnauthorized, "GET", "/api/v1/pods", "", "Authorization", "Bearer one")
	c.do(t, http.StatusOK, "GET", "/api/v1/pods", "", "Authorization", "Bearer two")
	srv.SetBearerToken("")
	c.do(t, http.StatusOK, "GET", "/api/v1/pods", "")
}

// trust returns a client that trusts only the server's CA.
func trust(t *testing.T, srv *apitest.Server, certificates ...tls.Certificate) *client {
	c := newClient(t, srv)
	pool := x509.NewCertPool()
	require.True(t, pool.AppendCertsFromPEM(srv.CA()))
	transport := c.http.Transport.(*http.Transport)
	transport.TLSClientConfig = &tls.Config{RootCAs: pool, Certificates: certificates}
	transport.ForceAttemptHTTP2 = true
	if srv.URL() == "https://apitest" {
		transport.DialContext = srv.DialContext
	}
	return c
}

func TestTLS(t *testing.T) {
	t.Parallel()
	srv, stranger := start(t, apitest.Options{TLS: true})
	_, err := stranger.http.Get(srv.URL() + "/api")
	require.ErrorContains(t, err, "unknown authority")

	c := trust(t, srv)
	resp := c.send(t, "GET", "/api/v1/pods", "")
	require.Equal(t, 2, resp.ProtoMajor)
	w := c.watch(t, "/api/v1/pods", protoType)
	create(t, srv, pod("a", "p"))
	w.expect("ADDED a/p")
	srv.DropWatches("")
	_, err = w.next()
	require.Error(t, err)

	w = c.watch(t, "/api/v1/pods", protoType)
	srv.Close()
	_, err = w.next()
	for err == nil {
		_, err = w.next()
	}
}

func TestClientCertificates(t *testing.T) {
	t.Parallel()
	srv := apitest.Start(t, apitest.Options{TLS: true, ClientCertificates: true})
	pair, err := tls.X509KeyPair(srv.ClientCertificate())
	require.NoError(t, err)
	trust(t, srv, pair).do(t, http.StatusOK, "GET", "/api/v1/pods", "")
	_, err = trust(t, srv).http.Get(srv.URL() + "/api/v1/pods")
	require.Error(t, err, "a client without a certificate must be refused")

	plain := apitest.Start(t, apitest.Options{})
	require.Nil(t, plain.CA())
	cert, key := plain.ClientCertificate()
	require.Nil(t, cert)
	require.Nil(t, key)
}

func TestTLSConfigOfTheCaller(t *testing.T) {
	t.Parallel()
	// authority provides the certificates of another CA
	authority := apitest.Start(t, apitest.Options{TLS: true})
	pair, err := tls.X509KeyPair(authority.ClientCertificate())
	require.NoError(t, err)
	pool := x509.NewCertPool()
	require.True(t, pool.AppendCertsFromPEM(authority.CA()))
	config := &tls.Config{Certificates: []tls.Certificate{pair}, ClientCAs: pool, ClientAuth: tls.VerifyClientCertIfGiven}
	srv := apitest.Start(t, apitest.Options{TLSConfig: config, Rules: []apitest.Rule{}})
	require.Regexp(t, "^https://", srv.URL())
	require.Nil(t, srv.CA())
	require.Empty(t, config.NextProtos, "the caller's configuration must not change")

	reach := func(certificates ...tls.Certificate) *client {
		c := newClient(t, srv)
		transport := c.http.Transport.(*http.Transport)
		transport.TLSClientConfig = &tls.Config{InsecureSkipVerify: true, Certificates: certificates}
		transport.ForceAttemptHTTP2 = true
		return c
	}
	resp := reach(pair).send(t, "GET", "/api/v1/pods", "")
	require.NoError(t, resp.Body.Close())
	require.Equal(t, http.StatusOK, resp.StatusCode, "a member of system:masters must be allowed")
	require.Equal(t, 2, resp.ProtoMajor)
	nobody := reach()
	nobody.do(t, http.StatusOK, "GET", "/healthz", "")
	nobody.fails(t, http.StatusForbidden, "GET", "/api/v1/pods", "")
}

func TestTLSInMemory(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv := apitest.New(apitest.Options{TLS: true})
		t.Cleanup(srv.Close)
		require.NoError(t, srv.ListenMemory())
		c := trust(t, srv)
		c.do(t, http.StatusOK, "GET", "/api/v1/pods", "")
		c.http.CloseIdleConnections()
	})
}

func TestServerOnSeveralListeners(t *testing.T) {
	t.Parallel()
	srv := apitest.New(apitest.Options{})
	defer srv.Close()
	require.Empty(t, srv.URL())
	_, err := srv.DialContext(t.Context(), "tcp", "x")
	require.ErrorContains(t, err, "call ListenMemory first")
	require.ErrorContains(t, srv.Listen("256.0.0.1:0"), "apitest: listen")

	require.NoError(t, srv.Listen("127.0.0.1:0"))
	url := srv.URL()
	require.NoError(t, srv.Listen("127.0.0.1:0"))
	require.NoError(t, srv.ListenMemory())
	require.Equal(t, url, srv.URL(), "the URL must be the URL of the first listener")
	create(t, srv, pod("a", "p"))
	overTCP, inMemory := newClient(t, srv), newClient(t, srv)
	inMemory.http.Transport.(*http.Transport).DialContext = srv.DialContext
	require.Equal(t, overTCP.do(t, 200, "GET", "/api/v1/pods", ""), inMemory.do(t, 200, "GET", "/api/v1/pods", ""))
	conn, err := net.Dial("tcp", url[len("http://"):])
	require.NoError(t, err)
	defer conn.Close()
}

func TestServerIsAHandler(t *testing.T) {
	t.Parallel()
	srv := apitest.New(apitest.Options{})
	rec := httptest.NewRecorder()
	srv.ServeHTTP(rec, httptest.NewRequest("GET", "/api/v1/pods", nil))
	require.Equal(t, http.StatusOK, rec.Code)
	srv.Close()
	rec = httptest.NewRecorder()
	srv.ServeHTTP(rec, httptest.NewRequest("GET", "/api/v1/pods", nil))
	require.Equal(t, http.StatusServiceUnavailable, rec.Code)
	require.ErrorIs(t, srv.Listen("127.0.0.1:0"), apitest.ErrClosed)
}

func TestRequestsAreObserved(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var seen []string
	_, c := start(t, apitest.Options{OnRequest: func(r apitest.Request) {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, r.Verb+" "+r.Group+" "+r.Version+" "+r.Resource+" "+r.Namespace+" "+r.Name+" "+r.Subresource)
	}})
	for _, path := range []string{
		"/api/v1/pods", "/api/v1/pods?watch=1&timeoutSeconds=1", "/api/v1/namespaces/a/pods/p/status", "/api/v1/namespaces/a",
		"/api/v1/namespaces/a/status", "/apis/apps/v1/namespaces/a/deployments", "/version",
	} {
		c.send(t, "GET", path, "")
	}
	c.send(t, "POST", "/api/v1/nodes/n", "")
	require.Equal(t, []string{
		"list  v1 pods   ", "watch  v1 pods   ", "get  v1 pods a p status", "get  v1 namespaces  a ",
		"get  v1 namespaces  a status", "list apps v1 deployments a  ", "discovery      ", "  v1 nodes  n ",
	}, seen)
}

func TestOptionsAreChecked(t *testing.T) {
	t.Parallel()
	for _, opts := range []apitest.Options{
		{Window: -1}, {BookmarkInterval: -1}, {ClientCertificates: true}, {TLS: true, TLSConfig: &tls.Config{}}, {Resources: []apitest.Resource{{Kind: "X"}}},
		{Resources: []apitest.Resource{widgets, widgets}},
	} {
		require.Panics(t, func() { apitest.New(opts) })
	}
}

// Close ends all goroutines under any load. goleak checks that none remain.
func TestCloseUnderLoad(t *testing.T) {
	t.Parallel()
	for range 5 {
		srv := apitest.New(apitest.Options{})
		require.NoError(t, srv.Listen("127.0.0.1:0"))
		c := newClient(t, srv)
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for {
					resp, err := c.http.Get(srv.URL() + "/api/v1/pods?watch=1&timeoutSeconds=1")
					if err != nil {
						return
					}
					_, _ = resp.Body.Read(make([]byte, 10))
					_ = resp.Body.Close()
				}
			})
		}
		wg.Go(func() {
			_, err := srv.Churn(t.Context(), apitest.ChurnOptions{PerSecond: 2000, Writes: 200})
			require.NoError(t, err)
			srv.Close()
		})
		wg.Wait()
		c.http.CloseIdleConnections()
	}
}

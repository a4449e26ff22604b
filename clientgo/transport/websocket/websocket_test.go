package websocket_test

import (
	"crypto/tls"
	"encoding/pem"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync/atomic"
	"testing"

	gwebsocket "github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport/websocket"
	"k8s.io/streaming/pkg/httpstream"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("k8s.io/klog/v2.(*flushDaemon).run.func1"))
}

// echo returns a handler that echoes messages over a websocket of protocol "b". It calls seen with
// each request.
func echo(t *testing.T, seen func(*http.Request)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		seen(req)
		conn, err := (&gwebsocket.Upgrader{Subprotocols: []string{"b"}}).Upgrade(w, req, nil)
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		kind, message, err := conn.ReadMessage()
		if err == nil {
			conn.WriteMessage(kind, message)
		}
	})
}

// negotiate opens a websocket with config.
func negotiate(t *testing.T, config *rest.Config, protocols ...string) (*gwebsocket.Conn, error) {
	rt, holder, err := websocket.RoundTripperFor(config)
	require.NoError(t, err)
	require.Nil(t, holder.Connection())
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, config.Host+"/path?query=1", nil)
	require.NoError(t, err)
	conn, err := websocket.Negotiate(rt, holder, req, protocols...)
	require.Same(t, holder.Connection(), conn)
	return conn, err
}

func requireEcho(t *testing.T, conn *gwebsocket.Conn) {
	t.Helper()
	defer conn.Close()
	require.Equal(t, "b", conn.Subprotocol())
	require.NoError(t, conn.WriteMessage(gwebsocket.BinaryMessage, []byte("hello")))
	_, message, err := conn.ReadMessage()
	require.NoError(t, err)
	require.Equal(t, "hello", string(message))
}

func TestARequestHasTheHeadersOfTheConfig(t *testing.T) {
	var seen http.Header
	var path string
	s := httptest.NewTLSServer(echo(t, func(req *http.Request) { seen, path = req.Header.Clone(), req.URL.String() }))
	defer s.Close()
	config := &rest.Config{Host: s.URL, BearerToken: "secret", UserAgent: "me", Impersonate: rest.ImpersonationConfig{UserName: "you"}}
	_, err := negotiate(t, config, "a", "b")
	require.ErrorContains(t, err, "certificate", "the client does not trust the server's CA")
	require.False(t, httpstream.IsUpgradeFailure(err))

	config.CAData = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	conn, err := negotiate(t, config, "a", "b")
	require.NoError(t, err)
	requireEcho(t, conn)
	require.Equal(t, "/path?query=1", path)
	require.Equal(t, "a, b", seen.Get("Sec-Websocket-Protocol"))
	require.Equal(t, "Bearer secret", seen.Get("Authorization"))
	require.Equal(t, "me", seen.Get("User-Agent"))
	require.Equal(t, "you", seen.Get("Impersonate-User"))

	rt := &websocket.RoundTripper{TLSConfig: &tls.Config{InsecureSkipVerify: true}}
	require.Same(t, rt.TLSConfig, rt.TLSClientConfig())
	require.Equal(t, 32*1024, rt.DataBufferSize())
	req, err := http.NewRequest(http.MethodGet, s.URL, nil)
	require.NoError(t, err)
	conn, err = websocket.Negotiate(rt, rt, req, "b")
	require.NoError(t, err)
	requireEcho(t, conn)
}

func TestAnUnknownProtocolIsAnUpgradeFailure(t *testing.T) {
	s := httptest.NewServer(echo(t, func(*http.Request) {}))
	defer s.Close()
	_, err := negotiate(t, &rest.Config{Host: s.URL}, "a", "c")
	require.EqualError(t, err, `unable to upgrade streaming request: invalid protocol, expected one of ["a" "c"], got ""`)
	require.True(t, httpstream.IsUpgradeFailure(err))
}

func TestARefusedUpgradeReturnsTheServersStatus(t *testing.T) {
	body := ""
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, body)
	}))
	defer s.Close()

	body = `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"no pods for you","reason":"Forbidden","code":403}`
	_, err := negotiate(t, &rest.Config{Host: s.URL}, "b")
	require.EqualError(t, err, "unable to upgrade streaming request: no pods for you")
	failure, ok := errors.AsType[*httpstream.UpgradeFailureError](err)
	require.True(t, ok)
	require.True(t, apierrors.IsForbidden(failure.Cause), "programs test the reason of the error")
	status, ok := failure.Cause.(*apierrors.StatusError)
	require.True(t, ok)
	require.EqualValues(t, http.StatusForbidden, status.Status().Code)

	body = `{"kind":"Other","apiVersion":"v1","message":"no"}`
	_, err = negotiate(t, &rest.Config{Host: s.URL}, "b")
	require.EqualError(t, err, "unable to upgrade streaming request: websocket: bad handshake (403 Forbidden): "+body)
}

func TestConnectionsGoThroughAProxy(t *testing.T) {
	s := httptest.NewServer(echo(t, func(*http.Request) {}))
	defer s.Close()
	var proxied atomic.Int32
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		require.Equal(t, http.MethodConnect, req.Method)
		proxied.Add(1)
		far, err := net.Dial("tcp", req.Host)
		if err != nil {
			t.Error(err)
			return
		}
		w.WriteHeader(http.StatusOK)
		near, read, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		go func() {
			defer far.Close()
			// use the buffered reader, because the server may have read ahead
			_, _ = io.Copy(far, read)
		}()
		defer near.Close()
		_, _ = io.Copy(near, far)
	}))
	defer proxy.Close()
	conn, err := negotiate(t, &rest.Config{Host: s.URL, Proxy: func(*http.Request) (*url.URL, error) { return url.Parse(proxy.URL) }}, "b")
	require.NoError(t, err)
	requireEcho(t, conn)
	require.EqualValues(t, 1, proxied.Load())
}

func TestAnInvalidConfigIsAnError(t *testing.T) {
	_, _, err := websocket.RoundTripperFor(&rest.Config{Host: "x", TLSClientConfig: rest.TLSClientConfig{CAData: []byte("x"), Insecure: true}})
	require.Error(t, err)
}

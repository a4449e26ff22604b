package spdy_test

import (
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/transport/spdy"
	"k8s.io/streaming/pkg/httpstream"
	serverspdy "k8s.io/streaming/pkg/httpstream/spdy"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		goleak.IgnoreTopFunction("k8s.io/klog/v2.(*flushDaemon).run.func1"),
		// If the peer closes a connection first, this function waits a second for a reader of the
		// error.
		goleak.IgnoreTopFunction("github.com/moby/spdystream.(*Connection).shutdown"))
}

// greet starts a server that sends a greeting on each stream, and calls seen with each request.
func greet(t *testing.T, seen func(*http.Request)) *httptest.Server {
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		seen(req)
		if _, err := httpstream.Handshake(req, w, []string{"b"}); err != nil {
			return
		}
		streams := make(chan httpstream.Stream, 1)
		conn := serverspdy.NewResponseUpgrader().UpgradeResponse(w, req, func(s httpstream.Stream, replySent <-chan struct{}) error {
			streams <- s
			return nil
		})
		if conn == nil {
			return
		}
		defer conn.Close()
		for {
			select {
			case s := <-streams:
				io.WriteString(s, "hello "+s.Headers().Get("name"))
				s.Close()
			case <-conn.CloseChan():
				return
			}
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func TestARequestHasTheHeadersOfTheConfig(t *testing.T) {
	var seen http.Header
	s := greet(t, func(req *http.Request) { seen = req.Header.Clone() })
	config := &rest.Config{Host: s.URL, BearerToken: "secret", UserAgent: "me"}
	u, err := url.Parse(s.URL)
	require.NoError(t, err)
	dial := func() (httpstream.Connection, string, error) {
		rt, upgrader, err := spdy.RoundTripperFor(config)
		require.NoError(t, err)
		return spdy.NewDialerForStreaming(upgrader, &http.Client{Transport: rt}, http.MethodPost, u).Dial("a", "b")
	}
	_, _, err = dial()
	require.ErrorContains(t, err, "error sending request: ")
	require.ErrorContains(t, err, "certificate", "the client does not trust the server's CA")

	config.CAData = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	conn, protocol, err := dial()
	require.NoError(t, err)
	defer conn.Close()
	require.Equal(t, "b", protocol)
	require.Equal(t, []string{"a", "b"}, seen["X-Stream-Protocol-Version"])
	require.Equal(t, "SPDY/3.1", seen.Get("Upgrade"))
	require.Equal(t, "Bearer secret", seen.Get("Authorization"))
	require.Equal(t, "me", seen.Get("User-Agent"))

	stream, err := conn.CreateStream(http.Header{"Name": {"you"}})
	require.NoError(t, err)
	said, err := io.ReadAll(stream)
	require.NoError(t, err)
	require.Equal(t, "hello you", string(said))
	require.NoError(t, stream.Close())
	conn.RemoveStreams(stream)
}

func TestAStreamingUpgrader(t *testing.T) {
	s := greet(t, func(*http.Request) {})
	rt, err := serverspdy.NewRoundTripper(s.Client().Transport.(*http.Transport).TLSClientConfig)
	require.NoError(t, err)
	req, err := http.NewRequest(http.MethodPost, s.URL, nil)
	require.NoError(t, err)
	conn, protocol, err := spdy.Negotiate(spdy.NewUpgraderForStreaming(rt), &http.Client{Transport: rt}, req, "b")
	require.NoError(t, err)
	require.Equal(t, "b", protocol)
	stream, err := conn.CreateStream(http.Header{"Name": {"me"}})
	require.NoError(t, err)
	said, err := io.ReadAll(stream)
	require.NoError(t, err)
	require.Equal(t, "hello me", string(said))
	require.NoError(t, conn.Close())

	req, err = http.NewRequest(http.MethodPost, s.URL, nil)
	require.NoError(t, err)
	_, _, err = spdy.NegotiateStreaming(spdy.NewUpgraderForStreaming(rt), &http.Client{Transport: rt}, req, "a")
	require.EqualError(t, err, "unable to upgrade connection: unable to upgrade: unable to negotiate protocol: client supports [a], server accepts [b]")
}

func TestAnInvalidConfigIsAnError(t *testing.T) {
	_, _, err := spdy.RoundTripperFor(&rest.Config{Host: "x", TLSClientConfig: rest.TLSClientConfig{CAData: []byte("x"), Insecure: true}})
	require.Error(t, err)
}

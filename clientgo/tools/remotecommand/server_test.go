package remotecommand_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/client-go/transport/spdy"
	"k8s.io/streaming/pkg/httpstream"
	serverspdy "k8s.io/streaming/pkg/httpstream/spdy"
	"k8s.io/streaming/pkg/httpstream/wsstream"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m,
		goleak.IgnoreTopFunction("k8s.io/klog/v2.(*flushDaemon).run.func1"),
		// If the other end closes a connection first, spdystream waits a second for a reader of the
		// error.
		goleak.IgnoreTopFunction("github.com/moby/spdystream.(*Connection).shutdown"),
		// spdystream waits half a minute for a stream that the other side has not acknowledged.
		goleak.IgnoreTopFunction("github.com/moby/spdystream.(*Stream).WaitTimeout"))
}

const (
	v1 = "channel.k8s.io"
	v2 = "v2.channel.k8s.io"
	v3 = "v3.channel.k8s.io"
	v4 = "v4.channel.k8s.io"
	v5 = "v5.channel.k8s.io"
)

var protocols = []string{v1, v2, v3, v4, v5}

// testTimeout bounds the waits of tests for steps that should take no time.
const testTimeout = 20 * time.Second

// command is the server's side of a command.
type command struct {
	Protocol string
	Kinds    []string // kinds of the streams, in the order in which they were opened; SPDY only
	In       io.ReadWriteCloser
	Out      io.ReadWriteCloser
	Err      io.ReadWriteCloser
	Failed   io.ReadWriteCloser
	Size     io.ReadWriteCloser
	HangUp   func()
}

// exit sends the result of the command, in protocols 4 and 5.
func (c *command) exit(status metav1.Status) {
	_ = json.NewEncoder(c.Failed).Encode(status)
}

// serve starts a server of commands, with these protocols over SPDY and websockets. A command has
// the streams whose kinds are in the request's query. The server closes the connection when the
// function run returns.
func serve(t *testing.T, protocols []string, run func(c *command)) (address string) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		var c *command
		if wsstream.IsWebSocketRequest(req) {
			c = overWebsocket(t, w, req, protocols)
		} else {
			c = overSPDY(t, w, req, protocols)
		}
		if c != nil {
			defer c.HangUp()
			run(c)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func overSPDY(t *testing.T, w http.ResponseWriter, req *http.Request, protocols []string) *command {
	protocol, err := httpstream.Handshake(req, w, protocols)
	if err != nil {
		return nil
	}
	type opened struct {
		httpstream.Stream
		replySent <-chan struct{}
	}
	streams := make(chan opened, 10)
	conn := serverspdy.NewResponseUpgrader().UpgradeResponse(w, req, func(s httpstream.Stream, replySent <-chan struct{}) error {
		streams <- opened{s, replySent}
		return nil
	})
	if conn == nil {
		return nil
	}
	c := &command{Protocol: protocol, HangUp: func() { conn.Close() }}
	into := map[string]*io.ReadWriteCloser{
		corev1.StreamTypeStdin: &c.In, corev1.StreamTypeStdout: &c.Out, corev1.StreamTypeStderr: &c.Err,
		corev1.StreamTypeError: &c.Failed, corev1.StreamTypeResize: &c.Size,
	}
	for range req.URL.Query()["stream"] {
		select {
		case s := <-streams:
			<-s.replySent // without a reply, the client would see a stream that was reset
			kind := s.Headers().Get(corev1.StreamType)
			c.Kinds = append(c.Kinds, kind)
			*into[kind] = s.Stream
		case <-time.After(testTimeout):
			t.Error("the client must open all streams")
			conn.Close()
			return nil
		}
	}
	return c
}

func overWebsocket(t *testing.T, w http.ResponseWriter, req *http.Request, protocols []string) *command {
	channels := make([]wsstream.ChannelType, 5)
	for _, kind := range req.URL.Query()["stream"] {
		switch kind {
		case corev1.StreamTypeStdin:
			channels[0] = wsstream.ReadChannel
		case corev1.StreamTypeStdout:
			channels[1] = wsstream.WriteChannel
		case corev1.StreamTypeStderr:
			channels[2] = wsstream.WriteChannel
		case corev1.StreamTypeError:
			channels[3] = wsstream.WriteChannel
		case corev1.StreamTypeResize:
			channels[4] = wsstream.ReadChannel
		}
	}
	spoken := map[string]wsstream.ChannelProtocolConfig{}
	for _, p := range protocols {
		spoken[p] = wsstream.ChannelProtocolConfig{Binary: true, Channels: channels}
	}
	conn := wsstream.NewConn(spoken)
	conn.SetIdleTimeout(testTimeout)
	protocol, streams, err := conn.Open(w, req)
	if err != nil {
		return nil
	}
	return &command{
		Protocol: protocol, HangUp: func() { conn.Close() },
		In: streams[0], Out: streams[1], Err: streams[2], Failed: streams[3], Size: streams[4],
	}
}

// transport is a kind of connection.
type transport string

const (
	transportSPDY      transport = "spdy"
	transportWebsocket transport = "websocket"
)

// everyProtocol runs a test with each transport and protocol.
func everyProtocol(t *testing.T, protocols []string, test func(t *testing.T, tr transport, protocol string)) {
	for _, tr := range []transport{transportSPDY, transportWebsocket} {
		for _, protocol := range protocols {
			t.Run(string(tr)+"/"+protocol, func(t *testing.T) { test(t, tr, protocol) })
		}
	}
}

// executor returns an executor for the server at address. The request names the streams of options.
func executor(t *testing.T, tr transport, protocol, address string, options remotecommand.StreamOptions) remotecommand.Executor {
	query := url.Values{"stream": {corev1.StreamTypeError}}
	add := func(kind string, wanted bool) {
		if wanted {
			query.Add("stream", kind)
		}
	}
	add(corev1.StreamTypeStdin, options.Stdin != nil)
	add(corev1.StreamTypeStdout, options.Stdout != nil)
	add(corev1.StreamTypeStderr, options.Stderr != nil && !options.Tty)
	add(corev1.StreamTypeResize, options.Tty && protocol >= v3)
	config := &rest.Config{Host: address}
	u, err := url.Parse(address + "/exec?" + query.Encode())
	require.NoError(t, err)
	var e remotecommand.Executor
	if tr == transportWebsocket {
		e, err = remotecommand.NewWebSocketExecutorForProtocols(config, http.MethodGet, u.String(), protocol)
	} else {
		rt, upgrader, forErr := spdy.RoundTripperFor(config)
		require.NoError(t, forErr)
		e, err = remotecommand.NewSPDYExecutorForProtocols(rt, upgrader, http.MethodPost, u, protocol)
	}
	require.NoError(t, err)
	return e
}

// within fails the test if f does not return in time.
func within(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(testTimeout):
		t.Fatalf("%s: took longer than %v", what, testTimeout)
	}
}

// text is a writer that is safe for concurrent use.
type text struct {
	mu   sync.Mutex // guards following
	data []byte
}

func (w *text) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.data = append(w.data, p...)
	return len(p), nil
}

func (w *text) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return string(w.data)
}

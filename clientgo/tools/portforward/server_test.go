package portforward_test

//lint:file-ignore SA1019 programs may have types of apimachinery's httpstream, which client-go's signatures name

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	gwebsocket "github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	older "k8s.io/apimachinery/pkg/util/httpstream"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/portforward"
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

// testTimeout bounds the waits of tests for steps that should take no time.
const testTimeout = 20 * time.Second

// forwardingServer is the server's side of port forwarding.
type forwardingServer struct {
	address string
	// handle serves a connection to a port. The server sends the result of handle on the error
	// stream.
	handle func(port string, data io.ReadWriteCloser) string

	connected chan struct{} // receives a value for each connection

	mu    sync.Mutex // guards following
	conns []httpstream.Connection
	ids   []string // request ids, in the order in which their data streams were opened
}

// servePod starts a server that forwards ports to the function handle, over SPDY and through
// websockets.
func servePod(t *testing.T, handle func(port string, data io.ReadWriteCloser) string) *forwardingServer {
	p := &forwardingServer{handle: handle, connected: make(chan struct{}, 10)}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if wsstream.IsWebSocketRequest(req) {
			upgrader := gwebsocket.Upgrader{Subprotocols: []string{"SPDY/3.1+portforward.k8s.io"}}
			ws, err := upgrader.Upgrade(w, req, nil)
			if err != nil {
				return
			}
			streams := make(chan httpstream.Stream, 100)
			conn, err := serverspdy.NewServerConnection(portforward.NewTunnelingConnection("server", ws), sending(streams))
			if err != nil {
				t.Error(err)
				return
			}
			p.serve(conn, streams)
			return
		}
		if _, err := httpstream.Handshake(req, w, []string{"portforward.k8s.io"}); err != nil {
			return
		}
		streams := make(chan httpstream.Stream, 100)
		if conn := serverspdy.NewResponseUpgrader().UpgradeResponse(w, req, sending(streams)); conn != nil {
			p.serve(conn, streams)
		}
	}))
	t.Cleanup(s.Close)
	t.Cleanup(p.hangUp)
	p.address = s.URL
	return p
}

func sending(streams chan<- httpstream.Stream) httpstream.NewStreamHandler {
	return func(s httpstream.Stream, replySent <-chan struct{}) error {
		streams <- s
		return nil
	}
}

// serve serves a connection until it ends.
func (p *forwardingServer) serve(conn httpstream.Connection, streams <-chan httpstream.Stream) {
	p.mu.Lock()
	p.conns = append(p.conns, conn)
	p.mu.Unlock()
	p.connected <- struct{}{}
	defer conn.Close()
	var requests sync.WaitGroup
	defer requests.Wait()
	failures := map[string]httpstream.Stream{}
	for {
		select {
		case s := <-streams:
			id := s.Headers().Get(corev1.PortForwardRequestIDHeader)
			if s.Headers().Get(corev1.StreamType) == corev1.StreamTypeError {
				failures[id] = s
				continue
			}
			failure := failures[id]
			p.mu.Lock()
			p.ids = append(p.ids, id)
			p.mu.Unlock()
			requests.Go(func() {
				defer failure.Close()
				defer s.Close()
				io.WriteString(failure, p.handle(s.Headers().Get(corev1.PortHeader), s))
			})
		case <-conn.CloseChan():
			return
		}
	}
}

// hangUp closes all connections.
func (p *forwardingServer) hangUp() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.conns {
		c.Close()
	}
}

// upper responds with the port and the data in upper case.
func upper(port string, data io.ReadWriteCloser) string {
	in, err := io.ReadAll(data)
	if err != nil {
		return err.Error()
	}
	io.WriteString(data, port+":"+strings.ToUpper(string(in)))
	return ""
}

func overSPDY(t *testing.T, address string) older.Dialer {
	rt, upgrader, err := spdy.RoundTripperFor(&rest.Config{Host: address})
	require.NoError(t, err)
	return spdy.NewDialer(upgrader, &http.Client{Transport: rt}, http.MethodPost, parse(t, address))
}

func overWebsocket(t *testing.T, address string) older.Dialer {
	d, err := portforward.NewSPDYOverWebsocketDialer(parse(t, address), &rest.Config{Host: address})
	require.NoError(t, err)
	return d
}

func parse(t *testing.T, address string) *url.URL {
	u, err := url.Parse(address + "/api/v1/namespaces/a/pods/b/portforward")
	require.NoError(t, err)
	return u
}

// syncBuffer is a writer that is safe for concurrent use.
type syncBuffer struct {
	mu   sync.Mutex // guards following
	data []byte
}

func (w *syncBuffer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.data = append(w.data, p...)
	return len(p), nil
}

func (w *syncBuffer) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return string(w.data)
}

// runningForwarder is a running forwarder.
type runningForwarder struct {
	*portforward.PortForwarder
	t           *testing.T
	stop        chan struct{}
	result      chan error
	out, errOut syncBuffer
}

// forward starts to forward ports, and returns once the forwarder listens on them.
func forward(t *testing.T, dialer older.Dialer, addresses []string, ports ...string) *runningForwarder {
	f := &runningForwarder{t: t, stop: make(chan struct{}), result: make(chan error, 1)}
	ready := make(chan struct{})
	var err error
	f.PortForwarder, err = portforward.NewOnAddresses(dialer, addresses, ports, f.stop, ready, &f.out, &f.errOut)
	require.NoError(t, err)
	_, err = f.GetPorts()
	require.EqualError(t, err, "listeners not ready")
	go func() { f.result <- f.ForwardPorts() }()
	select {
	case <-ready:
	case err := <-f.result:
		t.Fatalf("forwarding must not end: %v", err)
	case <-time.After(testTimeout):
		t.Fatal("the ports must become ready")
	}
	return f
}

// ends waits until ForwardPorts returns, and returns its error.
func (f *runningForwarder) ends() error {
	f.t.Helper()
	select {
	case err := <-f.result:
		return err
	case <-time.After(testTimeout):
		f.t.Fatal("forwarding must end")
		return nil
	}
}

// stopped stops forwarding and requires that ForwardPorts returns nil.
func (f *runningForwarder) stopped() {
	f.t.Helper()
	close(f.stop)
	require.NoError(f.t, f.ends())
}

// local returns the local ports.
func (f *runningForwarder) local() []uint16 {
	ports, err := f.GetPorts()
	require.NoError(f.t, err)
	var local []uint16
	for _, p := range ports {
		local = append(local, p.Local)
	}
	return local
}

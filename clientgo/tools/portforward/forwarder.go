package portforward

//lint:file-ignore SA1019 programs may have types of apimachinery's httpstream, which client-go's signatures name

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"

	older "k8s.io/apimachinery/pkg/util/httpstream"
	utilportforward "k8s.io/apimachinery/pkg/util/portforward"
	"k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/internal/httpstreams"
	"k8s.io/streaming/pkg/httpstream"
)

// PortForwardProtocolV1Name is the protocol that is spoken with the server.
const PortForwardProtocolV1Name = utilportforward.PortForwardV1Name

// ErrLostConnectionToPod is what [PortForwarder.ForwardPorts] returns when the connection has ended and nobody has stopped it.
var ErrLostConnectionToPod = errors.New("lost connection to pod")

// PortForwarder forwards local ports to those of a pod. It is for one call of ForwardPorts.
type PortForwarder struct {
	// Ready is closed when all ports are listened on. It is the caller's, and may be nil.
	Ready chan struct{}

	dialer    httpstream.Dialer
	addresses []address
	ctx       context.Context // ends when the caller stops the forwarding
	out       io.Writer
	errOut    io.Writer

	mu        sync.Mutex // guards following
	ports     []ForwardedPort
	listeners []net.Listener
	requests  int // connections so far
	closed    bool
}

// New returns a PortForwarder that listens on localhost. See [NewOnAddresses].
func New(dialer older.Dialer, ports []string, stopChan <-chan struct{}, readyChan chan struct{}, out, errOut io.Writer) (*PortForwarder, error) {
	return NewOnAddresses(dialer, []string{"localhost"}, ports, stopChan, readyChan, out, errOut)
}

// NewForStreaming is [New] for a dialer of k8s.io/streaming.
func NewForStreaming(dialer httpstream.Dialer, ports []string, stopChan <-chan struct{}, readyChan chan struct{}, out, errOut io.Writer) (*PortForwarder, error) {
	return NewOnAddressesForStreaming(dialer, []string{"localhost"}, ports, stopChan, readyChan, out, errOut)
}

// NewOnAddresses returns a PortForwarder that listens on addresses: IP addresses, or "localhost" for 127.0.0.1 and ::1, of which
// one suffices. Ports are "LOCAL:REMOTE", "PORT" for the same one on both sides, or ":REMOTE" for any free local one. Forwarding
// ends when stopChan is closed. readyChan is closed when all ports are listened on. out gets a line for each port and for each
// connection, errOut one for each address that cannot be listened on; both may be nil.
func NewOnAddresses(dialer older.Dialer, addresses []string, ports []string, stopChan <-chan struct{}, readyChan chan struct{}, out, errOut io.Writer) (*PortForwarder, error) {
	return NewOnAddressesForStreaming(httpstreams.NewerDialer(dialer), addresses, ports, stopChan, readyChan, out, errOut)
}

// NewOnAddressesWithContext is [NewOnAddresses] where forwarding ends when ctx ends. The logger is ctx's.
func NewOnAddressesWithContext(ctx context.Context, dialer older.Dialer, addresses []string, ports []string, readyChan chan struct{}, out, errOut io.Writer) (*PortForwarder, error) {
	return NewOnAddressesForStreamingWithContext(ctx, httpstreams.NewerDialer(dialer), addresses, ports, readyChan, out, errOut)
}

// NewOnAddressesForStreaming is [NewOnAddresses] for a dialer of k8s.io/streaming.
func NewOnAddressesForStreaming(dialer httpstream.Dialer, addresses []string, ports []string, stopChan <-chan struct{}, readyChan chan struct{}, out, errOut io.Writer) (*PortForwarder, error) {
	return NewOnAddressesForStreamingWithContext(wait.ContextForChannel(stopChan), dialer, addresses, ports, readyChan, out, errOut)
}

// NewOnAddressesForStreamingWithContext is [NewOnAddressesWithContext] for a dialer of k8s.io/streaming.
func NewOnAddressesForStreamingWithContext(ctx context.Context, dialer httpstream.Dialer, addresses []string, ports []string, readyChan chan struct{}, out, errOut io.Writer) (*PortForwarder, error) {
	parsed, err := parseAddresses(addresses)
	if err != nil {
		return nil, err
	}
	forwarded, err := parsePorts(ports)
	if err != nil {
		return nil, err
	}
	return &PortForwarder{
		Ready: readyChan, dialer: dialer, addresses: parsed, ctx: ctx, out: orNowhere(out), errOut: orNowhere(errOut), ports: forwarded,
	}, nil
}

func orNowhere(w io.Writer) io.Writer {
	if w == nil {
		return io.Discard
	}
	return w
}

// ForwardPorts connects to the server, listens, and forwards connections until the caller stops it: then it returns nil. It
// returns an error if it cannot connect or cannot listen, and [ErrLostConnectionToPod] if the connection ends, which it also does
// after an error of the server about one forwarded connection. All that it has started has ended when it returns, but for what waits for
// a server that does not answer, or takes nothing.
func (pf *PortForwarder) ForwardPorts() error {
	defer pf.Close()
	conn, protocol, err := pf.dialer.Dial(PortForwardProtocolV1Name)
	if err != nil {
		return fmt.Errorf("error upgrading connection: %w", err)
	}
	if protocol != PortForwardProtocolV1Name {
		conn.Close()
		return fmt.Errorf("unable to negotiate protocol: client supports %q, server returned %q", PortForwardProtocolV1Name, protocol)
	}
	return pf.forward(conn)
}

func (pf *PortForwarder) forward(conn httpstream.Connection) error {
	var serving sync.WaitGroup
	forwarding, end := context.WithCancel(context.WithoutCancel(pf.ctx))
	defer func() {
		pf.Close()
		httpstreams.AtMost(patience, func() { conn.Close() })
		end()
		httpstreams.AtMost(2*patience, serving.Wait) // what has arrived has patience, and then it is closed
	}()
	if err := pf.listen(func(l net.Listener, port ForwardedPort) {
		serving.Go(func() { pf.serve(forwarding, l, port, conn) })
	}); err != nil {
		return err
	}
	if pf.Ready != nil {
		close(pf.Ready)
	}
	select {
	case <-pf.ctx.Done():
		return nil
	case <-conn.CloseChan():
	}
	if pf.ctx.Err() != nil {
		return nil
	}
	return ErrLostConnectionToPod
}

// serve accepts connections of a listener until it is closed, and returns when all of them have ended. ctx ends with forwarding.
func (pf *PortForwarder) serve(ctx context.Context, l net.Listener, port ForwardedPort, conn httpstream.Connection) {
	var connections sync.WaitGroup
	defer connections.Wait()
	for {
		local, err := l.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			runtime.HandleErrorWithContext(pf.ctx, err, "A connection to a forwarded port could not be accepted", "port", port.Local)
			return
		}
		connections.Go(func() { pf.handle(ctx, local, port, conn) })
	}
}

// Close closes the listeners. Connections that there are go on.
func (pf *PortForwarder) Close() {
	pf.mu.Lock()
	listeners := pf.listeners
	pf.listeners, pf.closed = nil, true
	pf.mu.Unlock()
	for _, l := range listeners {
		if err := l.Close(); err != nil {
			runtime.HandleErrorWithContext(pf.ctx, err, "A listener of a forwarded port could not be closed")
		}
	}
}

// GetPorts returns the pairs of ports, with the local ones that were found for 0. It is an error before Ready is closed, or if Ready is nil.
func (pf *PortForwarder) GetPorts() ([]ForwardedPort, error) {
	if pf.Ready == nil {
		return nil, errors.New("no Ready channel provided")
	}
	select {
	case <-pf.Ready:
	default:
		return nil, errors.New("listeners not ready")
	}
	pf.mu.Lock()
	defer pf.mu.Unlock()
	return append([]ForwardedPort(nil), pf.ports...), nil
}

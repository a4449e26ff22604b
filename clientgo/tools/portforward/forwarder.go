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

// PortForwardProtocolV1Name is the protocol between client and server.
const PortForwardProtocolV1Name = utilportforward.PortForwardV1Name

// ErrLostConnectionToPod is returned by [PortForwarder.ForwardPorts] if the connection ends before
// the caller stops forwarding.
var ErrLostConnectionToPod = errors.New("lost connection to pod")

// PortForwarder forwards local ports to ports of a pod. ForwardPorts may be called once.
type PortForwarder struct {
	// Ready is closed when the PortForwarder listens on all ports. The caller provides the channel.
	// May be nil.
	Ready chan struct{}

	dialer    httpstream.Dialer
	addresses []address
	ctx       context.Context // ends when the caller stops forwarding
	out       io.Writer
	errOut    io.Writer

	mu        sync.Mutex // guards following
	ports     []ForwardedPort
	listeners []net.Listener
	requests  int // number of forwarded connections so far
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

// NewOnAddresses returns a PortForwarder that listens on addresses. An address is an IP address, or
// "localhost" for 127.0.0.1 and ::1. For localhost, one of the two must work. A port is
// "LOCAL:REMOTE", "PORT" for equal ports, or ":REMOTE" for any free local port. Forwarding ends
// when stopChan is closed. readyChan is closed when the PortForwarder listens on all ports. out
// gets a line for each port and connection, and errOut gets a line for each failed address. The
// channel readyChan and both writers may be nil.
func NewOnAddresses(dialer older.Dialer, addresses []string, ports []string, stopChan <-chan struct{}, readyChan chan struct{}, out, errOut io.Writer) (*PortForwarder, error) {
	return NewOnAddressesForStreaming(httpstreams.NewerDialer(dialer), addresses, ports, stopChan, readyChan, out, errOut)
}

// NewOnAddressesWithContext is [NewOnAddresses] with a context in place of stopChan: forwarding
// ends when ctx ends. It logs to the logger of ctx.
func NewOnAddressesWithContext(ctx context.Context, dialer older.Dialer, addresses []string, ports []string, readyChan chan struct{}, out, errOut io.Writer) (*PortForwarder, error) {
	return NewOnAddressesForStreamingWithContext(ctx, httpstreams.NewerDialer(dialer), addresses, ports, readyChan, out, errOut)
}

// NewOnAddressesForStreaming is [NewOnAddresses] for a dialer of k8s.io/streaming.
func NewOnAddressesForStreaming(dialer httpstream.Dialer, addresses []string, ports []string, stopChan <-chan struct{}, readyChan chan struct{}, out, errOut io.Writer) (*PortForwarder, error) {
	return NewOnAddressesForStreamingWithContext(wait.ContextForChannel(stopChan), dialer, addresses, ports, readyChan, out, errOut)
}

// NewOnAddressesForStreamingWithContext is [NewOnAddressesWithContext] for a dialer of
// k8s.io/streaming.
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
		Ready: readyChan, dialer: dialer, addresses: parsed, ctx: ctx, out: orDiscard(out), errOut: orDiscard(errOut), ports: forwarded,
	}, nil
}

func orDiscard(w io.Writer) io.Writer {
	if w == nil {
		return io.Discard
	}
	return w
}

// ForwardPorts connects to the server, listens, and forwards connections. It returns nil when the
// caller stops forwarding, and an error if it cannot connect or listen. It returns
// [ErrLostConnectionToPod] if the connection to the server ends, which also happens if the server
// reports an error about a forwarded connection. On return its goroutines have ended, except
// goroutines that an unresponsive server blocks.
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
		httpstreams.AtMost(closeTimeout, func() { conn.Close() })
		end()
		// the goroutines wait for closeTimeout before they drop received data
		httpstreams.AtMost(2*closeTimeout, serving.Wait)
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

// serve accepts connections from a listener until the listener is closed. It returns when all
// connections have ended. ctx ends when forwarding ends.
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

// Close closes the listeners. Open connections continue.
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

// GetPorts returns the ports, with the actual local ports in place of 0. It returns an error before
// Ready is closed, or if Ready is nil.
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

package tcpproxy

import (
	"context"
	"errors"
	"net"
	"sync"
)

// Dial opens a connection to the server.
type Dial func(ctx context.Context, network, addr string) (net.Conn, error)

// ErrClosed is the error of DialContext after Close.
var ErrClosed = errors.New("tcpproxy: the proxy is closed")

// Proxy forwards connections. Make one with [New]. It is safe for concurrent use.
type Proxy struct {
	dial  Dial
	fault func(n int) Fault
	done  chan struct{} // closed by Close
	group sync.WaitGroup

	mu       sync.Mutex // guards following
	closed   bool
	listener net.Listener
	dialed   int            // connections, failed ones included
	conns    []*proxiedConn // all connections so far
}

// New makes a proxy to the server that dial reaches. fault returns the fault of the nth connection,
// counted from 0; nil means no faults. Several goroutines may call the function fault at the same
// time: each goroutine that opens a connection calls it. The function may use the proxy. New starts
// no goroutine.
func New(dial Dial, fault func(n int) Fault) *Proxy {
	if fault == nil {
		fault = func(int) Fault { return Fault{} }
	}
	return &Proxy{dial: dial, fault: fault, done: make(chan struct{})}
}

// Listen accepts connections on a free port of loopback, until Close, and returns
// its address.
func (p *Proxy) Listen() (address string, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || p.listener != nil {
		_ = l.Close()
		return "", errors.New("tcpproxy: Listen was called twice, or after Close")
	}
	p.listener = l
	p.group.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			// Nobody receives this error: the client only notices that the connection is closed.
			_ = p.forward(context.Background(), conn, "tcp", "")
		}
	})
	return l.Addr().String(), nil
}

// DialContext returns a connection to the server through the proxy that does not leave the process.
// It is suitable for http.Transport.DialContext.
func (p *Proxy) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	client, near := net.Pipe()
	if err := p.forward(ctx, near, network, address); err != nil {
		return nil, err
	}
	return client, nil
}

// forward connects a client's connection to the server. If that fails, it closes the client's
// connection.
func (p *Proxy) forward(ctx context.Context, near net.Conn, network, address string) error {
	far, err := p.dial(ctx, network, address)
	if err != nil {
		_ = near.Close()
		return err
	}
	p.mu.Lock()
	n := p.dialed
	p.dialed++
	p.mu.Unlock()
	fault := p.fault(n)

	l := &proxiedConn{clientConn: near, serverConn: far, done: p.done}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		l.close()
		return ErrClosed
	}
	p.conns = append(p.conns, l)
	p.group.Go(func() { l.forwardBytes(near, far, Fault{}) })
	p.group.Go(func() { l.forwardBytes(far, near, fault) })
	return nil
}

// Connections returns the number of connections so far.
func (p *Proxy) Connections() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.conns)
}

// Stall makes all present connections half-open.
func (p *Proxy) Stall() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, l := range p.conns {
		l.stalled.Store(true)
	}
}

// Reset resets all present connections.
func (p *Proxy) Reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, l := range p.conns {
		l.reset()
	}
}

// Close closes the listeners and all connections, and returns when all goroutines have ended.
func (p *Proxy) Close() {
	p.mu.Lock()
	if !p.closed {
		p.closed = true
		close(p.done)
	}
	if p.listener != nil {
		_ = p.listener.Close()
	}
	for _, l := range p.conns {
		l.close()
	}
	p.mu.Unlock()
	p.group.Wait()
}

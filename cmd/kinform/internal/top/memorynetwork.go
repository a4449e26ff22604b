package top

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"

	"github.com/kinform/kinform/view"
)

// memoryNetwork is an in-process network, so that local and remote views are read in the same way.
type memoryNetwork struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newMemoryNetwork() *memoryNetwork {
	return &memoryNetwork{conns: make(chan net.Conn), closed: make(chan struct{})}
}

// Accept implements net.Listener.
func (m *memoryNetwork) Accept() (net.Conn, error) {
	select {
	case c := <-m.conns:
		return loopbackConn{c}, nil
	case <-m.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (m *memoryNetwork) Close() error {
	m.once.Do(func() { close(m.closed) })
	return nil
}

// Addr implements net.Listener.
func (m *memoryNetwork) Addr() net.Addr { return loopback }

func (m *memoryNetwork) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case m.conns <- server:
		return client, nil
	case <-m.closed:
		return nil, errors.New("the program has ended")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

var loopback = &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1}

// loopbackConn is a connection with a loopback address, because a view refuses connections from
// other machines.
type loopbackConn struct{ net.Conn }

// RemoteAddr implements net.Conn.
func (loopbackConn) RemoteAddr() net.Addr { return loopback }

// serve serves a view in the process until end is called. The function end stops serving and waits
// until that is done.
func serve(v *view.View) (p *page, end func() error) {
	m := newMemoryNetwork()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- v.Serve(ctx, m) }()
	transport := &http.Transport{DialContext: m.dial, DisableKeepAlives: true}
	p, err := newPage("http://localhost/", transport)
	if err != nil {
		panic(err) // cannot happen: the address is valid
	}
	p.token = v.Token()
	return p, func() error {
		stop()
		err := <-ended
		transport.CloseIdleConnections()
		return err
	}
}

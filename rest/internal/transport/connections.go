package transport

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"

	"github.com/kinform/kinform/internal/contain"
)

// ErrClosed is the error of every request after [Pool.Close].
var ErrClosed = errors.New("the client is closed")

// connections has all open connections of a client, so that Close can close them. An http.Transport
// closes only connections that are idle at that moment.
type connections struct {
	dial     func(ctx context.Context, network, addr string) (net.Conn, error)
	received atomic.Uint64
	sent     atomic.Uint64

	mu     sync.Mutex // guards following
	open   map[*connection]struct{}
	closed bool
}

// connection counts its bytes. It stays in its owner's map until it is closed.
type connection struct {
	net.Conn
	owner *connections
}

// DialContext opens a connection for an http.Transport.
func (c *connections) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := c.dial(ctx, network, addr)
	if err != nil {
		return nil, contain.Error(err)
	}
	out := &connection{Conn: conn, owner: c}
	c.mu.Lock()
	closed := c.closed
	if !closed {
		if c.open == nil {
			c.open = map[*connection]struct{}{}
		}
		c.open[out] = struct{}{}
	}
	c.mu.Unlock()
	if closed {
		_ = conn.Close()
		return nil, ErrClosed
	}
	return out, nil
}

// close closes all connections. Later connections are closed as soon as they are opened.
func (c *connections) close() {
	c.mu.Lock()
	open := c.open
	c.open, c.closed = nil, true
	c.mu.Unlock()
	for conn := range open {
		_ = conn.Conn.Close()
	}
}

func (c *connections) len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.open)
}

func (c *connection) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.owner.received.Add(uint64(n))
	return n, err
}

func (c *connection) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.owner.sent.Add(uint64(n))
	return n, err
}

func (c *connection) Close() error {
	c.owner.mu.Lock()
	delete(c.owner.open, c)
	c.owner.mu.Unlock()
	return c.Conn.Close()
}

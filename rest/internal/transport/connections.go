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

// connTracker has all open connections of a client, so that Close can close them. An http.Transport
// closes only connections that are idle at that moment.
type connTracker struct {
	dial     func(ctx context.Context, network, addr string) (net.Conn, error)
	received atomic.Uint64
	sent     atomic.Uint64

	mu     sync.Mutex // guards following
	open   map[*trackedConn]struct{}
	closed bool
}

// trackedConn counts its bytes. It stays in the map of its tracker until it is closed.
type trackedConn struct {
	net.Conn
	tracker *connTracker
}

// DialContext opens a connection for an http.Transport.
func (c *connTracker) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := c.dial(ctx, network, addr)
	if err != nil {
		return nil, contain.SafeError(err)
	}
	out := &trackedConn{Conn: conn, tracker: c}
	c.mu.Lock()
	closed := c.closed
	if !closed {
		if c.open == nil {
			c.open = map[*trackedConn]struct{}{}
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
func (c *connTracker) close() {
	c.mu.Lock()
	open := c.open
	c.open, c.closed = nil, true
	c.mu.Unlock()
	for conn := range open {
		_ = conn.Conn.Close()
	}
}

func (c *connTracker) len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.open)
}

func (c *trackedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.tracker.received.Add(uint64(n))
	return n, err
}

func (c *trackedConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.tracker.sent.Add(uint64(n))
	return n, err
}

func (c *trackedConn) Close() error {
	c.tracker.mu.Lock()
	delete(c.tracker.open, c)
	c.tracker.mu.Unlock()
	return c.Conn.Close()
}

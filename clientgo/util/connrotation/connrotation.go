// Package connrotation has a dialer that can close all connections that it made: after the credentials of long connections
// have changed, there is no other way to have the server look at the new ones.
package connrotation

import (
	"context"
	"net"
	"sync"
)

// DialFunc connects to an address.
type DialFunc func(ctx context.Context, network, address string) (net.Conn, error)

// Dialer connects by a DialFunc, and remembers the connections. It is safe for concurrent use.
type Dialer struct {
	*ConnectionTracker
	dial DialFunc
}

// NewDialer returns a Dialer with a tracker of its own.
func NewDialer(dial DialFunc) *Dialer { return NewDialerWithTracker(dial, nil) }

// NewDialerWithTracker returns a Dialer that shares a tracker with others. nil is a new one.
func NewDialerWithTracker(dial DialFunc, tracker *ConnectionTracker) *Dialer {
	if tracker == nil {
		tracker = NewConnectionTracker()
	}
	return &Dialer{ConnectionTracker: tracker, dial: dial}
}

// Dial connects to an address.
func (d *Dialer) Dial(network, address string) (net.Conn, error) {
	return d.DialContext(context.Background(), network, address)
}

// DialContext connects to an address.
func (d *Dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := d.dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return d.Track(conn), nil
}

// ConnectionTracker remembers connections until they are closed. It is safe for concurrent use.
type ConnectionTracker struct {
	mu   sync.Mutex // guards following
	open map[*tracked]struct{}
}

// NewConnectionTracker returns a tracker without connections.
func NewConnectionTracker() *ConnectionTracker {
	return &ConnectionTracker{open: map[*tracked]struct{}{}}
}

// Track remembers a connection. The caller uses the result in its place, and closes that.
func (c *ConnectionTracker) Track(conn net.Conn) net.Conn {
	t := &tracked{Conn: conn, by: c}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open[t] = struct{}{}
	return t
}

// CloseAll closes the connections that are open.
func (c *ConnectionTracker) CloseAll() {
	c.mu.Lock()
	open := c.open
	c.open = map[*tracked]struct{}{}
	c.mu.Unlock()
	for t := range open {
		_ = t.Conn.Close() // Whoever uses it finds out.
	}
}

// tracked is a connection that its tracker forgets when it is closed.
type tracked struct {
	net.Conn
	by *ConnectionTracker
}

// Close implements net.Conn.
func (t *tracked) Close() error {
	t.by.mu.Lock()
	delete(t.by.open, t)
	t.by.mu.Unlock()
	return t.Conn.Close()
}

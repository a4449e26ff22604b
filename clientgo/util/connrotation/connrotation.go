// Package connrotation has a dialer that can close all its connections. A server checks a client
// certificate only when a connection is made. So after the certificate has changed, long-lived
// connections must be closed.
package connrotation

import (
	"context"
	"net"
	"sync"
)

// DialFunc connects to an address.
type DialFunc func(ctx context.Context, network, address string) (net.Conn, error)

// Dialer connects with a DialFunc and tracks the connections. It is safe for concurrent use.
type Dialer struct {
	*ConnectionTracker
	dial DialFunc
}

// NewDialer returns a Dialer with its own tracker.
func NewDialer(dial DialFunc) *Dialer { return NewDialerWithTracker(dial, nil) }

// NewDialerWithTracker returns a Dialer with a shared tracker. If the tracker is nil, the Dialer
// makes a tracker.
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

// ConnectionTracker tracks connections until they are closed. It is safe for concurrent use.
type ConnectionTracker struct {
	mu   sync.Mutex // guards following
	open map[*trackedConn]struct{}
}

// NewConnectionTracker returns a tracker without connections.
func NewConnectionTracker() *ConnectionTracker {
	return &ConnectionTracker{open: map[*trackedConn]struct{}{}}
}

// Track tracks a connection. The caller must use and close the result in place of conn.
func (c *ConnectionTracker) Track(conn net.Conn) net.Conn {
	t := &trackedConn{Conn: conn, tracker: c}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open[t] = struct{}{}
	return t
}

// CloseAll closes the open connections.
func (c *ConnectionTracker) CloseAll() {
	c.mu.Lock()
	open := c.open
	c.open = map[*trackedConn]struct{}{}
	c.mu.Unlock()
	for t := range open {
		_ = t.Conn.Close() // the program that uses it gets an error from the connection
	}
}

// trackedConn is a connection that removes itself from its tracker when it is closed.
type trackedConn struct {
	net.Conn
	tracker *ConnectionTracker
}

// Close implements net.Conn.
func (t *trackedConn) Close() error {
	t.tracker.mu.Lock()
	delete(t.tracker.open, t)
	t.tracker.mu.Unlock()
	return t.Conn.Close()
}

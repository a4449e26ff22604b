package cluster

import (
	"context"
	"fmt"
	"net"
	"sync"
	"syscall"
	"time"
)

// Network is the network between one client and the server. It counts the client's connections, and
// can be cut. The zero value is an intact network.
type Network struct {
	mu    sync.Mutex // guards following
	open  map[*conn]struct{}
	dials int
	cut   bool
}

// DialContext opens a connection, as [net.Dialer] does. While the network is cut, it returns an
// error.
func (n *Network) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: 10 * time.Second}
	inner, err := dialer.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.cut {
		inner.Close()
		return nil, fmt.Errorf("the test has cut the network: %w", syscall.ECONNREFUSED)
	}
	if n.open == nil {
		n.open = map[*conn]struct{}{}
	}
	c := &conn{Conn: inner, network: n}
	n.open[c] = struct{}{}
	n.dials++
	return c, nil
}

// Open returns the number of connections that the client has not closed.
func (n *Network) Open() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.open)
}

// Dials returns the number of connections made so far.
func (n *Network) Dials() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.dials
}

// Cut breaks all connections and refuses new ones until [Network.Heal]. Reads and writes of the
// client fail. Its connections count as open until the client closes them.
func (n *Network) Cut() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.cut = true
	for c := range n.open {
		c.Conn.Close()
	}
}

// Heal lets connections through again.
func (n *Network) Heal() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.cut = false
}

// conn is a connection that is counted until its user closes it.
type conn struct {
	net.Conn
	network *Network
}

func (c *conn) Close() error {
	c.network.mu.Lock()
	defer c.network.mu.Unlock()
	delete(c.network.open, c)
	return c.Conn.Close()
}

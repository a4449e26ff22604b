package rest

import (
	"context"
	"net"
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// memoryListener is a network within the process. In a bubble of testing/synctest, a goroutine that
// waits for this network counts as idle.
type memoryListener struct {
	conns  chan net.Conn
	once   sync.Once
	closed chan struct{}
}

func newMemoryListener() *memoryListener {
	return &memoryListener{conns: make(chan net.Conn), closed: make(chan struct{})}
}

func (m *memoryListener) Accept() (net.Conn, error) {
	select {
	case c := <-m.conns:
		return c, nil
	case <-m.closed:
		return nil, net.ErrClosed
	}
}

func (m *memoryListener) Close() error {
	m.once.Do(func() { close(m.closed) })
	return nil
}

func (m *memoryListener) Addr() net.Addr { return &net.UnixAddr{Name: "memory"} }

func (m *memoryListener) DialContext(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case m.conns <- server:
		return client, nil
	case <-m.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// serveMemory is like serve, for tests in a bubble. stop stops the server and the client. The test
// must call it before the bubble ends.
func serveMemory(t testing.TB, handler http.Handler, opts Options) (client *Client, stop func()) {
	t.Helper()
	network := newMemoryListener()
	server := &http.Server{Handler: handler}
	var group sync.WaitGroup
	group.Go(func() { _ = server.Serve(network) })
	client, err := NewClient(Config{Host: "http://memory", DialContext: network.DialContext}, opts)
	require.NoError(t, err)
	return client, func() {
		client.Close()
		_ = server.Close()
		group.Wait()
	}
}

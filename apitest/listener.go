package apitest

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync"

	"github.com/kinform/kinform/apitest/internal/certs"
)

// ErrClosed is the error of a listen or a dial after [Server.Close].
var ErrClosed = errors.New("apitest: the server is closed")

// memoryHost is the host in the URL of a server that listens only in memory.
const memoryHost = "apitest"

// network has the listeners of the server and their connections.
type network struct {
	certs *certs.Certificates // nil without TLS

	serving sync.WaitGroup // goroutines that accept connections
	conns   sync.WaitGroup // goroutines that serve a connection

	mu        sync.Mutex // guards following
	closed    bool
	address   string // address of the first listener
	listeners []net.Listener
	memory    *memoryListener
	open      map[net.Conn]struct{} // connections without TLS
}

// Listen serves on a TCP address until Close. The address "127.0.0.1:0" means a free port of the
// loopback interface.
func (s *Server) Listen(address string) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("apitest: %w", err)
	}
	return s.serve(l, l.Addr().String())
}

// ListenMemory serves on connections inside the process until Close. Clients get connections from
// [Server.DialContext]. If ListenMemory is called inside a testing/synctest bubble, the server and
// every connection are part of the bubble.
func (s *Server) ListenMemory() error {
	l := &memoryListener{conns: make(chan net.Conn), closed: make(chan struct{})}
	if err := s.serve(l, memoryHost); err != nil {
		return err
	}
	s.network.mu.Lock()
	defer s.network.mu.Unlock()
	s.network.memory = l
	return nil
}

// DialContext connects to the server in memory. It ignores the arguments network and address. Set
// it as the field DialContext of an http.Transport. It fails before ListenMemory is called.
func (s *Server) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	s.network.mu.Lock()
	l := s.network.memory
	s.network.mu.Unlock()
	if l == nil {
		return nil, errors.New("apitest: the server does not listen in memory: call ListenMemory first")
	}
	return l.dial(ctx)
}

// URL returns the base URL for clients, such as "http://127.0.0.1:41341", or "" if the server does
// not listen yet. For an in-memory server, the host in the URL has no meaning.
func (s *Server) URL() string {
	s.network.mu.Lock()
	defer s.network.mu.Unlock()
	switch {
	case s.network.address == "":
		return ""
	case s.opts.TLS || s.opts.TLSConfig != nil:
		return "https://" + s.network.address
	}
	return "http://" + s.network.address
}

// CAName is the common name of the CA that signs a server's certificate.
const CAName = "apitest CA"

// CA returns the certificate of the CA that signed the server's certificate, as PEM. It returns nil
// without [Options].TLS.
func (s *Server) CA() []byte {
	if s.network.certs == nil {
		return nil
	}
	return slices.Clone(s.network.certs.CA)
}

// ClientCertificate returns a certificate that the server accepts from clients, and its key, as
// PEM. It returns nil without [Options].TLS.
func (s *Server) ClientCertificate() (certificate, key []byte) {
	if s.network.certs == nil {
		return nil, nil
	}
	return slices.Clone(s.network.certs.ClientCert), slices.Clone(s.network.certs.ClientKey)
}

// serve starts to accept connections.
func (s *Server) serve(l net.Listener, address string) error {
	n := &s.network
	server := &http.Server{
		Handler:   s,
		ConnState: n.track(),
		ErrorLog:  slog.NewLogLogger(s.opts.Logger.Handler(), slog.LevelWarn),
	}
	switch {
	case s.opts.TLS:
		server.TLSConfig = n.certs.Config(s.opts.ClientCertificates)
	case s.opts.TLSConfig != nil:
		server.TLSConfig = s.opts.TLSConfig.Clone() // ServeTLS adds HTTP/2 to the configuration
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		_ = l.Close()
		return ErrClosed
	}
	if n.address == "" {
		n.address = address
		n.open = map[net.Conn]struct{}{}
	}
	n.listeners = append(n.listeners, l)
	s.startLoops()
	n.serving.Go(func() {
		// Serve returns only after the listener is closed, so its error has no other cause.
		if server.TLSConfig != nil {
			_ = server.ServeTLS(l, "", "")
		} else {
			_ = server.Serve(l)
		}
	})
	return nil
}

// track returns a hook that records the open connections and their goroutines. Each connection has
// a goroutine.
func (n *network) track() func(net.Conn, http.ConnState) {
	return func(conn net.Conn, state http.ConnState) {
		if secured, ok := conn.(*tls.Conn); ok {
			conn = secured.NetConn()
		}
		n.mu.Lock()
		defer n.mu.Unlock()
		switch state {
		case http.StateNew:
			n.conns.Add(1)
			n.open[conn] = struct{}{}
		case http.StateClosed:
			n.conns.Done()
			delete(n.open, conn)
		}
	}
}

// close closes all listeners and connections, and waits for their goroutines.
//
// It does not use [http.Server.Close], because closing a TLS connection writes a close alert. If
// the client does not read, the write takes up to five seconds. Meanwhile it keeps locks that
// handlers may need.
func (n *network) close() {
	n.mu.Lock()
	n.closed = true
	listeners := n.listeners
	n.mu.Unlock()
	for _, l := range listeners {
		_ = l.Close()
	}
	n.serving.Wait()

	n.mu.Lock()
	open := slices.Collect(maps.Keys(n.open))
	n.mu.Unlock()
	for _, conn := range open {
		_ = conn.Close()
	}
	n.conns.Wait()
}

// memoryListener accepts one end of a pipe for each dial.
type memoryListener struct {
	conns  chan net.Conn
	once   sync.Once
	closed chan struct{}
}

func (l *memoryListener) dial(ctx context.Context) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case l.conns <- server:
		return client, nil
	case <-l.closed:
		return nil, ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept implements net.Listener.
func (l *memoryListener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *memoryListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr implements net.Listener.
func (l *memoryListener) Addr() net.Addr { return memoryAddr{} }

type memoryAddr struct{}

func (memoryAddr) Network() string { return "memory" }
func (memoryAddr) String() string  { return memoryHost }

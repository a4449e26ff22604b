package transport

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/kinform/kinform/internal/logthrottle"
)

// Options say how connections are opened. Logger and ReadBufferSize are required.
type Options struct {
	// Dial defaults to TCP with a timeout and keep-alives of 30 seconds each.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// Proxy defaults to http.ProxyFromEnvironment, or to no proxy if Dial is set.
	Proxy func(*http.Request) (*url.URL, error)
	// OnProxy is called with the URL of the proxy before each request that uses a proxy. The URL
	// may have a password. OnProxy is required.
	OnProxy func(*url.URL)

	ServerName string
	Insecure   bool // do not verify certificates of the server
	// use the client certificate that the caller passes to Get
	CertificateFromGet bool
	Load               func() (*TLS, error) // reads the files; nil without files
	ReadBufferSize     int
	Logger             *slog.Logger // for files that cannot be used
}

// maxHeaderBytes bounds the headers of a response.
const maxHeaderBytes = 256 << 10

// Pool has the http.Transport for the requests of a client. When the CA bundle or the client
// certificate changes, it makes a new http.Transport. Each http.Transport has its own connections,
// so a change affects all new requests, and no open stream. A Pool is safe for concurrent use. Its
// owner must call Close.
type Pool struct {
	opts     Options
	conns    connTracker
	reloader Reloader

	mu           sync.Mutex           // guards following
	current      *http.Transport      // nil before the first request
	currentTLS   *TLS                 // of the current http.Transport
	retired      []retired            // the oldest first
	loadErrorLog logthrottle.Throttle // decides when to log that the files cannot be used
}

// retired is an http.Transport that new requests no longer use. The pool closes its connections as
// they become idle. With HTTP/2, a connection may become idle some moments after its last request
// has ended.
type retired struct {
	transport *http.Transport
	at        time.Time
}

// An http.Transport closes a connection that has been idle for idleTimeout. So a retired
// http.Transport has no idle connections after forgetAfter, and the pool drops it.
const (
	forgetAfter = 2 * idleTimeout
	idleTimeout = 90 * time.Second
)

// New returns a Pool. initial has the CA bundle and the client certificate for its first
// connections.
func New(opts Options, initial *TLS) *Pool {
	proxy, dial := opts.Proxy, opts.Dial
	if proxy == nil && dial == nil {
		proxy = http.ProxyFromEnvironment
	}
	if dial == nil {
		dial = (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	}
	if opts.Proxy = nil; proxy != nil {
		opts.Proxy = func(req *http.Request) (*url.URL, error) {
			u, err := proxy(req)
			if u != nil {
				opts.OnProxy(u)
			}
			return u, err
		}
	}
	return &Pool{opts: opts, conns: connTracker{dial: dial}, reloader: Reloader{lastRead: time.Now()}, currentTLS: initial}
}

// Get returns the http.Transport for a request. If Options.CertificateFromGet is set, certificate
// is the client certificate, and may be nil. The only error is the error of ctx.
func (p *Pool) Get(ctx context.Context, certificate *tls.Certificate) (*http.Transport, error) {
	if p.HasFiles() {
		if err := p.reloader.ReloadIfDue(ctx, ReloadTimeout, p.reload); err != nil {
			return nil, err
		}
	}
	p.mu.Lock()
	next := p.currentTLS
	if p.opts.CertificateFromGet && !sameCertificate(certificate, next.certificate()) {
		next = &TLS{next.sum, next.roots, func() *tls.Certificate { return certificate }}
	}
	if p.current == nil || next != p.currentTLS {
		p.switchTransportLocked(next)
	}
	current, old := p.current, p.retiredLocked()
	p.mu.Unlock()
	closeIdle(old)
	return current, nil
}

// HasFiles reports whether the CA bundle or the client certificate comes from a file, and may
// change.
func (p *Pool) HasFiles() bool { return p.opts.Load != nil }

// Expire makes the next request reload the files.
func (p *Pool) Expire() { p.reloader.Expire() }

// Connections returns the number of open connections, and the bytes that all connections, open and
// closed, have received and sent.
func (p *Pool) Connections() (open int, received, sent uint64) {
	return p.conns.len(), p.conns.received.Load(), p.conns.sent.Load()
}

// Close closes all connections. Later requests fail with [ErrClosed].
func (p *Pool) Close() {
	p.CloseIdle()
	p.conns.close()
}

// CloseIdle closes the idle connections.
func (p *Pool) CloseIdle() {
	p.mu.Lock()
	old := p.retiredLocked()
	if p.current != nil {
		old = append(old, p.current)
	}
	p.mu.Unlock()
	closeIdle(old)
}

// reload reads the files. If their contents have changed, it makes a new http.Transport.
func (p *Pool) reload() {
	loaded, err := p.opts.Load()
	p.mu.Lock()
	warn, recovered := false, false
	if err == nil {
		recovered = p.loadErrorLog.Recovered()
	} else {
		_, warn = p.loadErrorLog.Due(0, time.Now())
	}
	p.mu.Unlock()
	if recovered {
		p.opts.Logger.Info("The files for TLS can be used again.")
	}
	if warn {
		p.opts.Logger.Warn("The files for TLS cannot be used; their last valid contents stay in use.", "err", err)
	}
	if err != nil {
		return
	}
	p.mu.Lock()
	if loaded.sum != p.currentTLS.sum {
		if p.opts.CertificateFromGet {
			loaded.certificate = p.currentTLS.certificate
		}
		p.switchTransportLocked(loaded)
	}
	old := p.retiredLocked()
	p.mu.Unlock()
	closeIdle(old)
}

func closeIdle(transports []*http.Transport) {
	for _, t := range transports {
		t.CloseIdleConnections()
	}
}

// retiredLocked returns the retired http.Transports that may have idle connections.
func (p *Pool) retiredLocked() (old []*http.Transport) {
	p.retired = slices.DeleteFunc(p.retired, func(r retired) bool { return time.Since(r.at) > forgetAfter })
	for _, r := range p.retired {
		old = append(old, r.transport)
	}
	return old
}

// switchTransportLocked makes the current http.Transport, and retires the previous one.
func (p *Pool) switchTransportLocked(s *TLS) {
	if p.current != nil {
		p.retired = append(p.retired, retired{p.current, time.Now()})
	}
	config := &tls.Config{
		MinVersion:         tls.VersionTLS12,
		RootCAs:            s.roots,
		ServerName:         p.opts.ServerName,
		InsecureSkipVerify: p.opts.Insecure, // only if the configuration says so
	}
	if certificate := s.certificate(); certificate != nil {
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return certificate, nil }
	}
	p.currentTLS = s
	p.current = &http.Transport{
		DialContext:         p.conns.DialContext,
		Proxy:               p.opts.Proxy,
		TLSClientConfig:     config,
		TLSHandshakeTimeout: 10 * time.Second,
		MaxIdleConnsPerHost: 25,
		IdleConnTimeout:     idleTimeout,
		ReadBufferSize:      p.opts.ReadBufferSize,

		MaxResponseHeaderBytes: maxHeaderBytes,
		ForceAttemptHTTP2:      true,
		// Pings without a response and blocked writes reveal a peer that has vanished.
		HTTP2: &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second, WriteByteTimeout: 10 * time.Second},
	}
}

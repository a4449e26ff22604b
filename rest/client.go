package rest

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Options are the choices of a Client. The zero value works.
type Options struct {
	// MaxObjectBytes bounds the encoded size of one object, one event, or one
	// answer that is not a list. Defaults to 16 MiB, which is ten times what etcd
	// takes and what client-go allows an event. A stream holds at most a handful
	// of such objects at a time.
	MaxObjectBytes int

	// MaxListBytes bounds the encoded size of one list: of all its pages together, as
	// they are after decompression, and of the initial events of a streaming list.
	// A larger one ends with [listwatch.ErrListTooLarge], after which a reflector
	// waits for long, and its sink keeps what it has. Defaults to 8 GiB, which is as
	// much as etcd is made to hold, so that no list of a real cluster is refused, and
	// one without an end has one. It does not know how much memory there is: a process
	// with less may set it, to about half of what its cache may take.
	MaxListBytes int64

	// MaxRetries is how often a verb, or Raw, is repeated after a failure that
	// invites it: see [Error]. Defaults to 10, as in client-go; negative means
	// never. List and Watch are not repeated: what reads them, such as a
	// reflector, waits and goes on by itself.
	MaxRetries int

	// MaxRetryAfter is the longest wait for a repetition. A server that asks for
	// more patience gets no further request, and the caller its answer. Defaults
	// to 30 seconds.
	MaxRetryAfter time.Duration

	// Limit is called before every request is sent, repetitions, lists and watches
	// included, and may wait; an error of it is what the request fails with. It
	// must return when the context ends. [RateLimiter].Wait is one, and so is that
	// of golang.org/x/time/rate. Defaults to none: the server has priority and
	// fairness.
	Limit func(context.Context) error

	// Observer is told what the client does. Defaults to nobody.
	Observer *Observer

	// Logger gets what no error can report: warnings of the server, each text once
	// as far as the client remembers, and a token file that became unreadable.
	// Defaults to discarding it.
	Logger *slog.Logger
}

// Client talks to one API server. It is safe for concurrent use, starts no
// goroutine of its own, and is to be closed.
type Client struct {
	base           *url.URL
	userAgent      string
	compress       bool // lists
	headerTimeout  time.Duration
	maxObjectBytes int
	maxListBytes   int64
	maxRetries     int
	maxRetryAfter  time.Duration
	limit          func(context.Context) error
	observer       *Observer
	logger         *slog.Logger

	credentials *credentials
	connections *connections
	transports  *transports
	buffers     [2]sync.Pool // of *[]byte, large and small, shared by all streams so that an idle one holds only one
	counters    counters
	warned      warned
	closed      atomic.Bool
	closing     chan struct{} // closed by Close
}

// NewClient validates cfg, loads the certificates and the token that it names,
// and returns a client. It does not connect.
func NewClient(cfg Config, opts Options) (*Client, error) {
	base, err := parseHost(cfg.Host)
	if err != nil {
		return nil, fmt.Errorf("rest.Config: Host: %w", err)
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	credentials, err := newCredentials(&cfg, opts.Logger)
	var secured *security
	if err == nil {
		secured, err = cfg.TLS.load()
	}
	if err != nil {
		return nil, fmt.Errorf("rest.Config: %w", err)
	}
	if cfg.HeaderTimeout < 0 || opts.MaxObjectBytes < 0 || opts.MaxListBytes < 0 || opts.MaxRetryAfter < 0 {
		return nil, errors.New("rest: HeaderTimeout, MaxObjectBytes, MaxListBytes and MaxRetryAfter must not be negative")
	}

	if cfg.Proxy == nil && cfg.DialContext == nil {
		cfg.Proxy = http.ProxyFromEnvironment
	}
	if cfg.DialContext == nil {
		cfg.DialContext = (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	}
	connections := &connections{dial: cfg.DialContext}
	transports := &transports{
		dial: connections.DialContext, proxy: cfg.Proxy, serverName: cfg.TLS.ServerName, insecure: cfg.TLS.Insecure,
		given: cfg.Credentials != nil, logger: opts.Logger, used: secured, reading: rereading{at: time.Now()},
	}
	if files := cfg.TLS; files.hasFiles() {
		transports.read = files.load
	}
	return &Client{
		base:           base,
		userAgent:      orDefault(cfg.UserAgent, "kinform"),
		compress:       cfg.Compression.on(base),
		headerTimeout:  orDefault(cfg.HeaderTimeout, time.Minute),
		maxObjectBytes: orDefault(opts.MaxObjectBytes, 16<<20),
		maxListBytes:   orDefault(opts.MaxListBytes, 8<<30),
		maxRetries:     orDefault(opts.MaxRetries, 10),
		maxRetryAfter:  orDefault(opts.MaxRetryAfter, 30*time.Second),
		limit:          opts.Limit,
		observer:       opts.Observer,
		logger:         opts.Logger,
		credentials:    credentials,
		connections:    connections,
		closing:        make(chan struct{}),
		transports:     transports,
	}, nil
}

// Close ends the client: connections are closed, requests and streams that still
// run fail, and later calls answer [ErrClosed]. It does not wait for streams,
// whose owners close them.
func (c *Client) Close() {
	if !c.closed.Swap(true) {
		close(c.closing)
	}
	c.transports.closeIdle()
	c.connections.close()
}

// parseHost reads the address of a server; see Config.Host.
func parseHost(host string) (*url.URL, error) {
	if host == "" {
		return nil, errors.New("it is required")
	}
	if !strings.Contains(host, "://") {
		host = "https://" + host
	}
	u, err := url.Parse(host)
	switch {
	case err != nil:
		return nil, errors.New("it is not a URL") // the reason would quote it
	case u.User != nil:
		return nil, errors.New("it holds credentials; use Username and Password")
	case u.Scheme != "https" && u.Scheme != "http":
		return nil, fmt.Errorf("scheme %q is neither https nor http", u.Scheme)
	case u.Host == "":
		return nil, errors.New("it names no host")
	case u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("it has a query or a fragment")
	}
	return u, nil
}

// orDefault returns value, or otherwise where value is zero.
func orDefault[V comparable](value, otherwise V) V {
	var zero V
	if value == zero {
		return otherwise
	}
	return value
}

// RawOptions are the choices of Raw. The zero value works.
type RawOptions struct {
	// Query is appended to the path.
	Query url.Values

	// Accept is the header of that name. Defaults to "application/json".
	Accept string

	// Body is sent, as ContentType, which defaults to "application/json".
	Body        []byte
	ContentType string
}

// Raw sends one request to an absolute path of the API server, such as "/apis",
// and returns the body of the answer as it is. Any code but 2xx is an error for
// which the predicates of apierrors work. An answer larger than
// [Options].MaxObjectBytes is refused.
func (c *Client) Raw(ctx context.Context, method, path string, opts RawOptions) ([]byte, error) {
	var body []byte
	err := c.persist(ctx, method, func() error {
		x, err := c.send(ctx, request{
			method: method, path: path, query: opts.Query, accept: orDefault(opts.Accept, mediaTypeJSON),
			body: opts.Body, contentType: opts.ContentType, anyType: true,
		})
		if err != nil {
			return err
		}
		defer x.close()
		if body, err = x.body(c.maxObjectBytes); err != nil {
			return x.fail(err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return body, nil
}

// target is what a request is about, for the messages of errors.
type target struct {
	gvr  schema.GroupVersionResource
	name string
}

// request is what to ask.
type request struct {
	method      string
	path        string // absolute, unescaped, without the path of the host
	query       url.Values
	accept      string
	list        bool // the answer is a list, which may be compressed
	body        []byte
	contentType string
	target      target
	anyType     bool // the answer may be anything, and has no encoding
}

// exchange is a request with its answer, which is open until close.
type exchange struct {
	client   *Client
	method   string
	url      string          // for messages
	ctx      context.Context // of the caller
	running  context.Context // of the request: ends with ctx, and at close
	cancel   context.CancelCauseFunc
	response *http.Response
	encoding Encoding // of the answer
	most     int64    // bytes that the answer may have, as a list; 0 for any number
}

// errHeaderTimeout is the cause with which a request ends that got no answer.
// [os.ErrDeadlineExceeded] makes it a net.Error that is a timeout, and keeps it
// apart from the end of the caller's context.
var errHeaderTimeout = fmt.Errorf("no answer: %w", os.ErrDeadlineExceeded)

// send sends a request and returns when the headers of its answer are there and
// report success; anything else is an [*Error]. The answer lives until it is
// closed or ctx ends.
func (c *Client) send(ctx context.Context, r request) (*exchange, error) {
	u := *c.base
	u.Path = strings.TrimSuffix(u.Path, "/") + r.path
	u.RawPath = ""
	u.RawQuery = r.query.Encode()
	x := &exchange{client: c, method: r.method, url: displayURL(u, r.query), ctx: ctx}
	x.running, x.cancel = context.WithCancelCause(ctx)

	if err := c.roundTrip(x, r, u.String()); err != nil {
		err = x.fail(err)
		x.close()
		return nil, err
	}
	return x, nil
}

func (c *Client) roundTrip(x *exchange, r request, address string) error {
	if c.closed.Load() {
		return ErrClosed
	}
	if err := x.ctx.Err(); err != nil {
		return err
	}
	if c.limit != nil {
		if err := c.limit(x.ctx); err != nil {
			return err
		}
	}
	req, err := http.NewRequestWithContext(x.running, r.method, address, bodyReader(r.body))
	if err != nil {
		return err
	}
	req.Header.Set("Accept", r.accept)
	if !r.list || !c.compress {
		// Where nothing is said, the transport asks for gzip and decompresses.
		req.Header.Set("Accept-Encoding", "identity")
	}
	req.Header.Set("User-Agent", c.userAgent)
	if r.body != nil {
		req.Header.Set("Content-Type", orDefault(r.contentType, mediaTypeJSON))
	}
	proof, err := c.credentials.apply(req)
	if err != nil {
		return err
	}
	transport, err := c.transports.get(x.ctx, proof.Certificate)
	if err != nil {
		return err
	}

	start := time.Now()
	timer := time.AfterFunc(c.headerTimeout, func() { x.cancel(errHeaderTimeout) })
	defer timer.Stop()
	x.response, err = transport.RoundTrip(req)
	if err != nil && context.Cause(x.running) == errHeaderTimeout {
		err = c.tooLate()
	}
	c.answered(x, start, err)
	if err != nil {
		if _, untrusted := errors.AsType[*tls.CertificateVerificationError](err); untrusted {
			c.transports.reading.expire() // there may be a new authority
		}
		return err
	}
	c.warn(x)
	if x.response.StatusCode == http.StatusUnauthorized {
		c.credentials.refused(proof)
		c.transports.reading.expire()
	}
	if x.response.StatusCode/100 != 2 {
		body, _ := io.ReadAll(io.LimitReader(x.response.Body, maxStatusBytes))
		return failure(r.method, x.response, body, r.target)
	}
	if !r.anyType {
		if x.encoding, err = encodingOf(x.response); err != nil {
			return err
		}
	}
	if !timer.Stop() {
		return c.tooLate()
	}
	return nil
}

// tooLate is the error of an exchange that the header timeout has ended.
func (c *Client) tooLate() error {
	return fmt.Errorf("%w: the server sent no headers within %s", errHeaderTimeout, c.headerTimeout)
}

// fail wraps the reason for which an exchange failed. Where the caller's context
// has ended, or the client was closed, that is the reason, whatever followed.
func (x *exchange) fail(err error) error {
	_, wrapped := errors.AsType[*Error](err)
	switch {
	case x.ctx.Err() != nil:
		err = x.ctx.Err()
	case x.client.closed.Load():
		err = ErrClosed
	case wrapped:
		return err
	}
	failed := &Error{Method: x.method, URL: x.url, Attempts: 1, Err: err}
	if x.response != nil {
		failed.StatusCode = x.response.StatusCode
		failed.retryAfter = x.response.Header.Get("Retry-After")
	}
	return failed
}

// body reads the whole answer, up to a limit.
func (x *exchange) body(limit int) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(x.response.Body, int64(limit)+1))
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, interrupted(err)
	}
	if err == nil && len(body) > limit {
		return nil, fmt.Errorf("%w: the answer has more than %d bytes", ErrTooLarge, limit)
	}
	return body, err
}

// close ends the exchange at once, also while another goroutine reads its body.
func (x *exchange) close() {
	x.cancel(nil)
	if x.response != nil {
		_ = x.response.Body.Close()
	}
}

// displayURL is the URL for messages: without the token of a page, which is long
// and says nothing, and without what someone may have given to Raw as a secret.
func displayURL(u url.URL, query url.Values) string {
	shown := url.Values{}
	for key, values := range query {
		switch key {
		case "continue", "token", "access_token", "password":
			values = []string{"..."}
		}
		shown[key] = values
	}
	u.RawQuery = shown.Encode()
	return u.String()
}

package rest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"github.com/kinform/kinform/internal/contain"
	"github.com/kinform/kinform/rest/internal/transport"
)

// Options are the optional settings of a Client. The zero value is ready for use.
type Options struct {
	// MaxObjectBytes limits the encoded size of one object, of one event, and of one response that
	// is not a list. A stream holds only a few objects of this size at a time. Defaults to 16 MiB,
	// client-go's limit for an event. etcd accepts objects of a tenth of this size.
	MaxObjectBytes int

	// MaxListBytes limits the encoded size of one list: all its pages together, after
	// decompression, or the initial events of a streaming list. A larger list ends with
	// [listwatch.ErrListTooLarge]. A reflector then keeps its objects, and waits for minutes before
	// it lists again. Defaults to 8 GiB, the recommended maximum size of etcd. This limit stops
	// endless lists, and allows every list of a real cluster. The default does not depend on the
	// memory of the process. If memory is scarce, set about half of what the cache may use.
	MaxListBytes int64

	// MaxExpansion limits the memory that decoding an object may take, as a multiple of its encoded
	// size, plus 4 KiB. Small parts are not counted, so an object may take up to twice the limit.
	// Defaults to 64. A pod takes 5 times its bytes. The most expensive custom resource that a
	// server stores takes 58 times its bytes, if it is decoded into a map. A list of empty elements
	// of a type with many fields would take hundreds of times its bytes.
	MaxExpansion int

	// MaxObjectMemory bounds the memory that decoding an object may take, in bytes,
	// whatever its encoded size. Defaults to 256 MiB.
	MaxObjectMemory int64

	// MaxDepth limits how deep an object may be nested. Defaults to 10,000, the depth that an API
	// server accepts. A larger value is an error.
	MaxDepth int

	// MaxCompression limits how many bytes each byte of a compressed list may become, after the
	// first 256 KiB. A list beyond this limit fails. Later lists of the Resource are then
	// uncompressed, because a list of an honest server may exceed the limit, for example ConfigMaps
	// full of zeros. Defaults to 100. A compressed list of pods expands ten- to fortyfold.
	MaxCompression int

	// MaxSilence is how long a response that has started may be silent. It applies to lists, to
	// responses that the client reads whole, and to an event of a watch that has arrived in part.
	// Between two events of a watch, a Client allows any silence. Fewer than 1,024 bytes in this
	// time count as silence, unless they are the last ones. The time between two calls of Next does
	// not count. Defaults to 90 seconds, so that a reflector ends a silent list first, after 60
	// seconds.
	MaxSilence time.Duration

	// MaxRetries is how often a verb, or Raw, is retried after a failure that allows it; see
	// [Error]. Defaults to 10, as in client-go; negative means never. The client does not retry
	// List and Watch: their caller, such as a reflector, has its own backoff.
	MaxRetries int

	// MaxRetryAfter is the longest wait before a retry. If a server requests a longer wait, the
	// client does not retry, and the caller gets the server's response. Defaults to 30 seconds.
	MaxRetryAfter time.Duration

	// Limit is called before every request, including retries, lists and watches. It may wait, and
	// must return when the context ends. If it returns an error, the request fails with this error.
	// Suitable functions are [RateLimiter].Wait, and Limiter.Latency of golang.org/x/time/rate.
	// Defaults to no limit, because API servers protect themselves by priority and fairness.
	Limit func(context.Context) error

	// Observer has the hooks that the client calls at each step. Defaults to no hooks.
	Observer *Observer

	// Logger gets the problems that no error can report: warnings of the server, token files and
	// TLS files that became unreadable, and retries. Each warning is logged once; the client
	// remembers about 1,000 texts. A lasting problem is logged again every five minutes. Defaults
	// to the value of slog.Default() when NewClient is called. slog.New(slog.DiscardHandler) drops
	// all lines.
	Logger *slog.Logger
}

// Client sends requests to one API server. It is safe for concurrent use. Its owner must call
// Close. A request may start a goroutine that calls Config.Credentials or reloads files; this
// goroutine may outlive the request. The client starts no other goroutines, apart from those of its
// streams.
type Client struct {
	decodeConfig
	base           *url.URL
	userAgent      string
	compress       bool // request compressed lists
	headerTimeout  time.Duration
	maxCompression int
	maxRetries     int
	maxRetryAfter  time.Duration
	limit          func(context.Context) error
	logger         *slog.Logger

	credentials    *credentials
	transport      *transport.Pool
	loggedWarnings loggedWarnings
	retryLog       retryLog
	closing        chan struct{} // closed by Close
}

// NewClient validates cfg, loads its certificates and its token, and returns a client. It does not
// connect.
func NewClient(cfg Config, opts Options) (*Client, error) {
	base, err := parseHost(cfg.Host)
	if err != nil {
		return nil, fmt.Errorf("rest.Config: Host: %w", err)
	}
	opts.Logger = contain.Logger(opts.Logger)
	if cfg.HeaderTimeout < 0 {
		return nil, errors.New("rest.Config: HeaderTimeout must not be negative")
	}
	c := &Client{
		base:           base,
		userAgent:      orDefault(cfg.UserAgent, "kinform"),
		compress:       cfg.Compression.enabledFor(base),
		headerTimeout:  orDefault(cfg.HeaderTimeout, time.Minute),
		maxCompression: orDefault(opts.MaxCompression, 100),
		maxRetries:     orDefault(opts.MaxRetries, 10),
		maxRetryAfter:  orDefault(opts.MaxRetryAfter, 30*time.Second),
		limit:          opts.Limit,
		logger:         opts.Logger,
		closing:        make(chan struct{}),
	}
	if err := c.setOptions(&opts); err != nil {
		return nil, err
	}
	var tlsSettings *transport.TLS
	if c.credentials, err = newCredentials(&cfg, c.redactor, opts.Logger); err == nil {
		tlsSettings, err = cfg.TLS.load()
	}
	if err != nil {
		return nil, fmt.Errorf("rest.Config: %w", err)
	}
	transportOptions := transport.Options{
		Dial: cfg.DialContext, Proxy: cfg.Proxy, OnProxy: c.redactor.AddProxy,
		ServerName: cfg.TLS.ServerName, Insecure: cfg.TLS.Insecure, CertificateFromGet: cfg.Credentials != nil,
		ReadBufferSize: busyBufferSize, Logger: opts.Logger,
	}
	if files := cfg.TLS; files.hasFiles() {
		transportOptions.Load = files.load
	}
	c.transport = transport.New(transportOptions, tlsSettings)
	return c, nil
}

// Close closes the client's connections, so that running requests and streams fail. Later calls
// return [ErrClosed]. Close cancels a running call of Config.Credentials, and waits for it to
// return. It does not wait for streams, which their owners close, or for reads from a disk that
// does not respond.
func (c *Client) Close() {
	if !c.closed.Swap(true) {
		close(c.closing)
	}
	c.transport.Close()
	if c.credentials.source != nil {
		c.credentials.source.Close()
	}
}

// parseHost parses the address of a server; see Config.Host.
func parseHost(host string) (*url.URL, error) {
	if host == "" {
		return nil, errors.New("an address is required")
	}
	if !strings.Contains(host, "://") {
		host = "https://" + host
	}
	u, err := url.Parse(host)
	switch {
	case err != nil:
		return nil, errors.New("the address is not a URL") // url.Parse's error would quote the URL
	case u.User != nil:
		return nil, errors.New("the address holds credentials: use Username and Password")
	case u.Scheme != "https" && u.Scheme != "http":
		return nil, fmt.Errorf("scheme %q is neither https nor http", u.Scheme)
	case u.Host == "":
		return nil, errors.New("the address names no host")
	case u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("the address has a query or a fragment")
	}
	return u, nil
}

// orDefault returns value, or the second argument if value is the zero value.
func orDefault[V comparable](value, otherwise V) V {
	var zero V
	if value == zero {
		return otherwise
	}
	return value
}

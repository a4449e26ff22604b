package rest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kinform/kinform/rest/internal/transport"
	"github.com/kinform/kinform/rest/internal/wire"
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

	// MaxExpansion bounds the memory that decoding an object may take, as a multiple of
	// its encoded size. 4 KiB more are allowed, and what takes no more than that multiple
	// by itself, whatever is in it, is not counted: with its lists, an object takes at
	// most twice as much. Defaults to 64. A pod takes 5 times its bytes, and what
	// a server would make of the most harmful custom resource as a map, 58 times; but a
	// list of empty elements, of a type with many fields, hundreds.
	MaxExpansion int

	// MaxObjectMemory bounds the same, in bytes, whatever the size of the encoding.
	// Defaults to 256 MiB.
	MaxObjectMemory int64

	// MaxDepth bounds how deep an object is nested. Defaults to 10,000, which is as much
	// as an API server takes, and cannot be more.
	MaxDepth int

	// MaxCompression bounds how many bytes a compressed list may become for each of its
	// own, after the first 256 KiB. Beyond that, the list fails, and the next of its
	// Resource is asked for without compression, as ConfigMaps full of zeros may well be
	// what there is. Defaults to 100. A list of pods is ten to forty times as long as
	// it is compressed.
	MaxCompression int

	// MaxSilence is how long an answer may be silent once it has begun: one that is read
	// whole, a list, and an event of a watch that has arrived in part. (Between two
	// events a watch may be silent for ever, as far as a Client is concerned.) Fewer than
	// 1,024 bytes in this time are silence, unless they are the last ones. Waiting for
	// who reads a stream does not count. Defaults to 90 seconds, which is longer than
	// the patience of a reflector.
	MaxSilence time.Duration

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
	// as far as the client remembers, files of a token or of TLS that became unreadable,
	// and requests that are repeated; what lasts is said every five minutes. Defaults to
	// slog.Default(), as it is at NewClient; slog.New(slog.DiscardHandler) drops them.
	Logger *slog.Logger
}

// Client talks to one API server. It is safe for concurrent use, and is to be closed.
// It starts goroutines only to call Config.Credentials and to read files again, each
// when a request needs it; they may outlive that request.
type Client struct {
	base           *url.URL
	userAgent      string
	compress       bool // lists
	headerTimeout  time.Duration
	maxObjectBytes int
	maxListBytes   int64
	maxExpansion   int
	maxMemory      int64
	maxDepth       int
	maxCompression int
	maxSilence     time.Duration
	maxRetries     int
	maxRetryAfter  time.Duration
	limit          func(context.Context) error
	observer       *Observer
	logger         *slog.Logger

	credentials *credentials
	mask        *mask // for all that others write
	transport   *transport.Pool
	sharing     sharer
	buffers     [2]sync.Pool // of *[]byte, large and small, shared by all streams so that an idle one holds only one
	counters    counters
	warned      warned
	repeated    repeated
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
		opts.Logger = slog.Default()
	}
	mask := &mask{}
	credentials, err := newCredentials(&cfg, mask, opts.Logger)
	var secured *transport.Security
	if err == nil {
		secured, err = cfg.TLS.load()
	}
	if err != nil {
		return nil, fmt.Errorf("rest.Config: %w", err)
	}
	if cfg.HeaderTimeout < 0 || opts.MaxObjectBytes < 0 || opts.MaxListBytes < 0 || opts.MaxRetryAfter < 0 ||
		opts.MaxExpansion < 0 || opts.MaxObjectMemory < 0 || opts.MaxDepth < 0 || opts.MaxCompression < 0 || opts.MaxSilence < 0 {
		return nil, errors.New("rest: HeaderTimeout, MaxObjectBytes, MaxListBytes, MaxExpansion, MaxObjectMemory, MaxDepth, MaxCompression, MaxSilence and MaxRetryAfter must not be negative")
	}
	if opts.MaxDepth > wire.MaxDepth {
		return nil, fmt.Errorf("rest: Options.MaxDepth is %d, but nothing decodes more than %d levels", opts.MaxDepth, wire.MaxDepth)
	}

	connecting := transport.Options{
		Dial: cfg.DialContext, Proxy: cfg.Proxy, OnProxy: mask.learnProxy,
		ServerName: cfg.TLS.ServerName, Insecure: cfg.TLS.Insecure, Given: cfg.Credentials != nil,
		ReadBufferSize: feedSize, Logger: opts.Logger,
	}
	if files := cfg.TLS; files.hasFiles() {
		connecting.Read = files.load
	}
	return &Client{
		base:           base,
		userAgent:      orDefault(cfg.UserAgent, "kinform"),
		compress:       cfg.Compression.on(base),
		headerTimeout:  orDefault(cfg.HeaderTimeout, time.Minute),
		maxObjectBytes: orDefault(opts.MaxObjectBytes, 16<<20),
		maxListBytes:   orDefault(opts.MaxListBytes, 8<<30),
		maxExpansion:   opts.MaxExpansion,
		maxMemory:      opts.MaxObjectMemory,
		maxDepth:       opts.MaxDepth,
		maxCompression: orDefault(opts.MaxCompression, 100),
		maxSilence:     orDefault(opts.MaxSilence, 90*time.Second),
		maxRetries:     orDefault(opts.MaxRetries, 10),
		maxRetryAfter:  orDefault(opts.MaxRetryAfter, 30*time.Second),
		limit:          opts.Limit,
		observer:       opts.Observer,
		logger:         opts.Logger,
		credentials:    credentials,
		mask:           mask,
		closing:        make(chan struct{}),
		transport:      transport.New(connecting, secured),
	}, nil
}

// Close ends the client: connections are closed, requests and streams that still
// run fail, and later calls answer [ErrClosed]. It waits for Config.Credentials, whose
// context it ends, and not for streams, whose owners close them, nor for a disk that
// does not answer.
func (c *Client) Close() {
	if !c.closed.Swap(true) {
		close(c.closing)
	}
	c.transport.Close()
	if c.credentials.source != nil {
		c.credentials.source.close()
	}
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

package apitest

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"reflect"
	"strconv"
	"sync"
	"time"

	"github.com/kinform/kinform/apitest/internal/builtin"
	"github.com/kinform/kinform/apitest/internal/certs"
	"github.com/kinform/kinform/apitest/internal/openapi"
	"github.com/kinform/kinform/apitest/internal/storage"
)

// Options are the settings of a [Server]. The zero value works.
type Options struct {
	// Window is the number of past events that the server keeps, over all resources. A watch or a
	// page that needs older events gets 410. Defaults to 10,000.
	Window int

	// BookmarkInterval is the time between the bookmarks of a watch, if the client has requested
	// bookmarks. One more bookmark is sent two seconds before the end of the watch. Defaults to one
	// minute, as on a real server.
	BookmarkInterval time.Duration

	// WatchTimeout is the duration of a watch whose request has no timeout. Defaults to 30 minutes.
	WatchTimeout time.Duration

	// Resources are custom resources that the server serves from the beginning. Add more resources
	// later with [Server.AddResource] or as CustomResourceDefinitions. Defaults to none.
	Resources []Resource

	// PagedCacheLists makes lists at resourceVersion "0" respect the limit. Defaults to false: the
	// server ignores the limit and sends the whole list, as a real server's cache does.
	PagedCacheLists bool

	// NoWatchList refuses streaming lists (sendInitialEvents) with 422, like a server without that
	// feature. Defaults to false.
	NoWatchList bool

	// NoAggregatedDiscovery disables the aggregated discovery document. Like servers older than
	// 1.27, the server then has only one document per group version. Defaults to false.
	NoAggregatedDiscovery bool

	// BearerToken is the token that clients must send; other clients get 401.
	// [Server.SetBearerToken] changes the token. Defaults to "": no token is needed.
	BearerToken string

	// Tokens are further bearer tokens with their users. The user of BearerToken may do everything.
	// If there are tokens, a client with an unknown token gets 401. A client without a token is
	// system:anonymous if there are Rules, and otherwise gets 401 as well. Defaults to none.
	Tokens map[string]User

	// Rules describe what users may do. Every other request gets 403 (Forbidden), with the real
	// server's text. A client certificate contains the user as its common name, and the groups as
	// its organizations. Every authenticated user may use discovery, and a member of system:masters
	// may do everything. Roles and bindings that are stored as objects have no effect. Defaults to
	// nil: everyone may do everything. If it is empty but not nil, only discovery and requests of
	// system:masters are allowed.
	Rules []Rule

	// TLS serves HTTPS with a certificate that the server creates: see [Server.CA]. Defaults to
	// false.
	TLS bool

	// TLSConfig serves HTTPS with the caller's certificates. A verified client certificate contains
	// the user, as with TLS. TLSConfig cannot be combined with TLS. Defaults to nil.
	TLSConfig *tls.Config

	// ClientCertificates requires a client certificate signed by the server's CA, such as
	// [Server.ClientCertificate]. It requires TLS. Defaults to false.
	ClientCertificates bool

	// CheckSchemas checks custom resources by the schemas of their CRDs, as every real server does.
	// It checks types, required and enum values, patterns, bounds, keys of lists, allOf, anyOf,
	// oneOf and not. The check sets defaults and removes unknown fields. CEL rules
	// (x-kubernetes-validations) are ignored. Objects stored before a schema changed stay as they
	// are. Defaults to false: no checks.
	CheckSchemas bool

	// ManagedFields makes the server track which manager set which field, from the creation of each
	// object. Every real server does so. Defaults to false: tracking begins with the first
	// server-side apply to an object, so that other objects stay small.
	ManagedFields bool

	// GarbageCollection deletes objects whose owners are gone, and follows the propagation policy
	// of deletions (background, foreground, orphan), like the garbage collector of a cluster.
	// Defaults to false: owner references are only stored.
	GarbageCollection bool

	// RunPods does the work of a scheduler and kubelets: it binds pods to nodes, and makes them run
	// and become ready at once. A deleted pod is Terminating before it is gone. A pod
	// with another scheduler's name waits until that scheduler binds it. If the server has no
	// nodes, the node is called apitest. Defaults to false: pods stay pending.
	RunPods bool

	// FieldDocs returns descriptions for "kubectl explain". For a struct type, it returns the
	// description of each field by the field's JSON name, and of the type itself under "". The
	// package fielddocs has the descriptions of the built-in types. Defaults to nil: the documents
	// have only names and types.
	FieldDocs func(reflect.Type) map[string]string

	// Admit decides whether the server handles a request. If Admit returns an error, for example
	// from k8s.io/apimachinery/pkg/api/errors, the client gets that error. Admit is called at the
	// same time and from the same goroutine as OnRequest. Defaults to nil: all requests are
	// admitted.
	Admit func(*http.Request) error

	// OnRequest is called before the server handles a request, in the goroutine that serves the
	// request, so calls are concurrent. OnRequest must not call [Server.Close]. Defaults to nil.
	OnRequest func(Request)

	// Seed determines uids, generated names and the odds of faults. The default 0 is a valid seed.
	Seed uint64

	// Logger logs errors of connections, of the garbage collector and of the pod runner. Defaults
	// to no output, unlike in the rest of this module. Tests that break connections on purpose
	// would log too much, and the client reports the error anyway.
	Logger *slog.Logger
}

// withDefaults returns the options with defaults filled in, or an error if they are invalid.
func (o Options) withDefaults() (Options, error) {
	if o.Window < 0 || o.BookmarkInterval < 0 || o.WatchTimeout < 0 {
		return o, fmt.Errorf("the options Window, BookmarkInterval and WatchTimeout must not be negative, but are %d, %v and %v",
			o.Window, o.BookmarkInterval, o.WatchTimeout)
	}
	if o.ClientCertificates && !o.TLS {
		return o, fmt.Errorf("the option ClientCertificates needs TLS")
	}
	if o.TLS && o.TLSConfig != nil {
		return o, fmt.Errorf("the options TLS and TLSConfig exclude each other")
	}
	if o.Window == 0 {
		o.Window = 10_000
	}
	if o.BookmarkInterval == 0 {
		o.BookmarkInterval = time.Minute
	}
	if o.WatchTimeout == 0 {
		o.WatchTimeout = 30 * time.Minute
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o, nil
}

// Server is a Kubernetes API server in memory. Make a Server with [New] or [Start]. All methods are
// safe for concurrent use.
//
// Server is an http.Handler, so another http.Server can serve it, instead of [Server.Listen] and
// [Server.ListenMemory]. Close that http.Server before the Server.
type Server struct {
	opts    Options
	store   *storage.Store
	faults  faults
	ids     ids
	watches watches
	auth    auth
	network network
	loops   loops
	openAPI *openapi.Documents

	crdMu sync.Mutex // locked while a CustomResourceDefinition or its resources change

	closed   chan struct{} // closed by Close
	inFlight inFlightRequests
}

// New makes an empty server that does not listen yet. New starts no goroutine. It panics on invalid
// options, and on a custom resource that is incomplete or already served.
func New(opts Options) *Server {
	opts, err := opts.withDefaults()
	if err != nil {
		panic("apitest: options: " + err.Error())
	}
	s := &Server{opts: opts, closed: make(chan struct{})}
	s.store = storage.NewStore(opts.Window)
	s.openAPI = openapi.New(opts.FieldDocs)
	s.faults.random = rand.New(rand.NewPCG(opts.Seed, 1))
	s.ids.random = rand.New(rand.NewPCG(opts.Seed, 2))
	s.auth.setToken(opts.BearerToken)
	s.auth.users = maps.Clone(opts.Tokens)
	s.auth.key = fmt.Append(nil, rand.New(rand.NewPCG(opts.Seed, 3)).Perm(256))
	if opts.TLS {
		if s.network.certs, err = certs.New(CAName, memoryHost, groupMasters); err != nil {
			panic("apitest: " + err.Error())
		}
	}
	if err := s.store.AddResources(append(builtin.Resources(), postOnlyResources()...)...); err != nil {
		panic("apitest: " + err.Error())
	}
	for _, r := range append([]Resource{customResourceDefinitions, apiServices}, opts.Resources...) {
		res, err := storage.NewCustom(storage.Description(r))
		if err == nil {
			err = s.store.AddResources(res)
		}
		if err != nil {
			panic("apitest: " + err.Error())
		}
	}
	if err := s.registerAtStart(); err != nil {
		panic("apitest: " + err.Error())
	}
	return s
}

// TB is the part of testing.TB that [Start] needs.
type TB interface {
	Helper()
	Fatalf(format string, args ...any)
	Cleanup(func())
}

// Start makes a server that listens on a free port of the loopback interface. The server is closed
// when the test ends. Inside a testing/synctest bubble, use [New] and [Server.ListenMemory].
func Start(tb TB, opts Options) *Server {
	tb.Helper()
	s := New(opts)
	tb.Cleanup(s.Close)
	if err := s.Listen("127.0.0.1:0"); err != nil {
		tb.Fatalf("starting the API server: %v", err)
	}
	return s
}

// AddResource starts to serve a custom resource. AddResource fails if the description is
// incomplete, or if the resource or the kind is already served.
func (s *Server) AddResource(r Resource) error {
	res, err := storage.NewCustom(storage.Description(r))
	if err != nil {
		return err
	}
	s.crdMu.Lock()
	defer s.crdMu.Unlock()
	if err := s.store.AddResources(res); err != nil {
		return err
	}
	return s.register()
}

// ResourceVersion returns the version of the latest write, or "1" before the first write.
func (s *Server) ResourceVersion() string {
	return strconv.FormatUint(s.store.Current(), 10)
}

// OldestResourceVersion returns the oldest version from which a watch can start. A watch from an
// older version gets 410 (Expired). The version is "0" until the first event is dropped.
func (s *Server) OldestResourceVersion() string {
	return strconv.FormatUint(s.store.Oldest(), 10)
}

// Compact drops all past events, like a compaction of etcd. Watches, pages and exact lists that
// need the events get 410. An open watch goes on if it has read all events already.
func (s *Server) Compact() { s.store.Compact() }

// DropWatches closes the connections of all open watches of a resource, and returns their number.
// The argument is the plural name, or "" for all resources.
func (s *Server) DropWatches(resource string) int {
	return s.watches.each(resource, func(w *watcher) {
		w.stop(errDropped)
		// The deadline interrupts a watch whose write waits for a slow client.
		_ = w.conn.SetWriteDeadline(time.Now())
	})
}

// EndWatches ends the open watches of a resource normally, as if their timeouts had passed, and
// returns their number. The argument is the plural name, or "" for all resources.
func (s *Server) EndWatches(resource string) int {
	return s.watches.each(resource, func(w *watcher) { w.stop(errEnded) })
}

// Watches returns the number of open watches of a resource. The argument is the plural name, or ""
// for all resources.
func (s *Server) Watches(resource string) int {
	return s.watches.each(resource, func(*watcher) {})
}

// Close stops listening, ends all watches and closes all connections. It returns when every
// goroutine of the server has ended. Further calls have no effect.
func (s *Server) Close() {
	if s.inFlight.close() {
		close(s.closed)
	}
	s.network.close()
	s.loops.stop()
	s.inFlight.active.Wait()
}

// inFlightRequests counts the requests in progress.
type inFlightRequests struct {
	active sync.WaitGroup

	mu     sync.Mutex // guards following
	closed bool       // no more requests are accepted
}

// begin counts a request, unless the server is closed.
func (h *inFlightRequests) begin() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return false
	}
	h.active.Add(1)
	return true
}

// close stops accepting requests. It returns true at its first call.
func (h *inFlightRequests) close() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	first := !h.closed
	h.closed = true
	return first
}

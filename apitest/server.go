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
)

// Options are the settings of a [Server]. The zero value works.
type Options struct {
	// Window is how many past events the server remembers, over all resources: a
	// watch or a page that needs older ones is answered with 410. Defaults to
	// 10,000.
	Window int

	// BookmarkInterval is the time between the bookmarks of a watch that asked for
	// them; one more is sent two seconds before the end of the watch. Defaults to
	// one minute, as a real server's.
	BookmarkInterval time.Duration

	// WatchTimeout ends a watch that did not ask for a time. Defaults to 30
	// minutes.
	WatchTimeout time.Duration

	// Resources are custom resources that are served from the beginning. More can
	// follow with [Server.AddResource], or as CustomResourceDefinitions. Defaults
	// to none.
	Resources []Resource

	// PagedCacheLists makes lists at resourceVersion "0" respect the limit.
	// Defaults to false: they are answered whole, as by a real server's cache.
	PagedCacheLists bool

	// NoWatchList refuses streaming lists (sendInitialEvents) with 422, as a server
	// does without that feature. Defaults to false.
	NoWatchList bool

	// NoAggregatedDiscovery answers discovery with one document per group version
	// only, as servers older than 1.27 do. Defaults to false.
	NoAggregatedDiscovery bool

	// BearerToken is what clients must show; others are answered with 401.
	// [Server.SetBearerToken] changes it. Defaults to "": everyone is welcome.
	BearerToken string

	// Tokens are bearer tokens and whose they are, beside BearerToken, whose user may do
	// everything. Where there are tokens, others are answered with 401, or, if there
	// are Rules and no token is shown, taken for system:anonymous. Defaults to none.
	Tokens map[string]User

	// Rules are what users may do; all else is answered with 403 (Forbidden), in the
	// words of the real server. Whom a client certificate names is its common name,
	// in the groups of its organizations. Everyone who is known may discover what
	// there is, and a member of system:masters may do everything. Defaults to nil:
	// everyone may do everything; without a rule in it, nobody else may do anything.
	// Roles and bindings that are stored as objects mean nothing.
	Rules []Rule

	// TLS serves HTTPS with a certificate of the server's own making: see
	// [Server.CA]. Defaults to false.
	TLS bool

	// TLSConfig serves HTTPS with certificates of the caller's. A client certificate that it
	// verifies names the user, as with TLS. It excludes TLS. Defaults to nil.
	TLSConfig *tls.Config

	// ClientCertificates demands a client certificate signed by the server's CA,
	// such as [Server.ClientCertificate]. It needs TLS. Defaults to false.
	ClientCertificates bool

	// CheckSchemas checks custom resources by the schemas of their definitions, as every
	// real server does: types, required and enum values, patterns, bounds, keys of
	// lists, allOf, anyOf, oneOf and not; it sets defaults, and takes fields away that the
	// schema does not know. Rules in CEL (x-kubernetes-validations) are not looked at.
	// What was stored before a schema changed stays as it is. Defaults to false: anything
	// goes.
	CheckSchemas bool

	// ManagedFields keeps track of who set which field from the creation of each object on,
	// as every real server does. Defaults to false: from the first server-side apply of an
	// object on, so that what nobody applies stays small.
	ManagedFields bool

	// GarbageCollection deletes what is owned by objects that are gone, and does what a
	// deletion says about what its object owns (background, foreground, orphan), as the
	// garbage collector of a cluster does. Defaults to false: owners are only noted.
	GarbageCollection bool

	// RunPods binds pods to nodes and has them run and be ready at once, as a scheduler
	// and kubelets would; a pod that is deleted is Terminating before it goes. A pod
	// with another scheduler's name waits for that to bind it. Where the server has
	// no nodes, the node is called apitest. Defaults to false: pods stay pending.
	RunPods bool

	// FieldDocs describes the fields of a struct type, by their names in JSON, and the
	// type itself under "", for "kubectl explain". The package fielddocs has those of
	// the built-in types. Defaults to nil: documents have names and types only.
	FieldDocs func(reflect.Type) map[string]string

	// Admit is asked before a request is answered; its error, for which
	// k8s.io/apimachinery/pkg/api/errors has constructors, is the answer to one that it
	// does not admit. It is called as OnRequest is. Defaults to admitting all.
	Admit func(*http.Request) error

	// OnRequest is called before each request is answered, from the goroutine that
	// serves it; requests come concurrently. It must not call [Server.Close].
	// Defaults to nil.
	OnRequest func(Request)

	// Seed determines uids, generated names and the odds of faults. Defaults to 0,
	// which is a seed as good as any.
	Seed uint64

	// Logger is told about errors in connections. Defaults to silence, other than in
	// the rest of this module: a server that is made to break connections would fill the
	// output of every test with it, and the client says what it is about.
	Logger *slog.Logger
}

// withDefaults returns complete options, or says what is wrong with them.
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

// Server is a Kubernetes API server in memory. Make one with [New] or [Start].
// All methods are safe for concurrent use.
//
// It is an http.Handler, so that it can be served by other means than
// [Server.Listen] and [Server.ListenMemory]; then those are to be closed before it.
type Server struct {
	opts    Options
	store   store
	faults  faults
	ids     ids
	watches watches
	auth    auth
	network network
	loops   loops
	openAPI openAPI

	defining sync.Mutex // held while a CustomResourceDefinition and what it defines begin or end

	closed   chan struct{} // closed by Close
	handlers handlers
}

// New makes an empty server that does not listen yet. It starts no goroutine.
// Options that make no sense, or a custom resource that is incomplete or served
// already, panic.
func New(opts Options) *Server {
	opts, err := opts.withDefaults()
	if err != nil {
		panic("apitest: options: " + err.Error())
	}
	s := &Server{opts: opts, closed: make(chan struct{})}
	s.store.version = 1
	s.store.history.window = opts.Window
	s.faults.random = rand.New(rand.NewPCG(opts.Seed, 1))
	s.ids.random = rand.New(rand.NewPCG(opts.Seed, 2))
	s.auth.set(opts.BearerToken)
	s.auth.users = maps.Clone(opts.Tokens)
	s.auth.key = fmt.Append(nil, rand.New(rand.NewPCG(opts.Seed, 3)).Perm(256))
	if opts.TLS {
		if s.network.certs, err = newCertificates(); err != nil {
			panic("apitest: " + err.Error())
		}
	}
	if err := s.store.serve(builtinResources()...); err != nil {
		panic("apitest: " + err.Error())
	}
	for _, r := range append([]Resource{customResourceDefinitions, apiServices}, opts.Resources...) {
		res, err := newCustom(r)
		if err == nil {
			err = s.store.serve(res)
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

// Start makes a server that listens on a free port of the loopback interface and
// is closed when the test ends. Inside a testing/synctest bubble, use [New] and
// [Server.ListenMemory].
func Start(tb TB, opts Options) *Server {
	tb.Helper()
	s := New(opts)
	tb.Cleanup(s.Close)
	if err := s.Listen("127.0.0.1:0"); err != nil {
		tb.Fatalf("starting the API server: %v", err)
	}
	return s
}

// AddResource begins to serve a custom resource. It fails if the description is
// incomplete, or if the resource, or the kind, is served already.
func (s *Server) AddResource(r Resource) error {
	res, err := newCustom(r)
	if err != nil {
		return err
	}
	s.defining.Lock()
	defer s.defining.Unlock()
	if err := s.store.serve(res); err != nil {
		return err
	}
	return s.register()
}

// ResourceVersion returns the version of the latest write. It is "1" before the
// first.
func (s *Server) ResourceVersion() string {
	return strconv.FormatUint(s.store.current(), 10)
}

// OldestResourceVersion returns the oldest version that a watch can start after. Who asks for an older one is
// answered with 410 (Expired). It is "0" while nothing has been forgotten.
func (s *Server) OldestResourceVersion() string {
	return strconv.FormatUint(s.store.oldest(), 10)
}

// Compact forgets all past events, as etcd's compaction does: watches, pages and
// exact lists that need them are answered with 410. Open watches go on if they
// have read everything.
func (s *Server) Compact() { s.store.compact() }

// DropWatches closes the connections of all open watches of a resource, named by
// its plural, or of all resources if that is "". It returns how many there were.
func (s *Server) DropWatches(resource string) int {
	return s.watches.each(resource, func(w *watcher) {
		w.stop(errDropped)
		// A watch that waits for a slow client hears of it in this way.
		_ = w.conn.SetWriteDeadline(time.Now())
	})
}

// EndWatches ends the open watches of a resource, named by its plural, or of all
// resources if that is "", in an orderly way, as if their time were up. It returns
// how many there were.
func (s *Server) EndWatches(resource string) int {
	return s.watches.each(resource, func(w *watcher) { w.stop(errEnded) })
}

// Watches returns how many watches of a resource, named by its plural, or of all
// resources if that is "", are open.
func (s *Server) Watches(resource string) int {
	return s.watches.each(resource, func(*watcher) {})
}

// Close stops listening, ends all watches, closes all connections and returns
// when every goroutine of the server has ended. It may be called again.
func (s *Server) Close() {
	if s.handlers.refuse() {
		close(s.closed)
	}
	s.network.close()
	s.loops.end()
	s.handlers.active.Wait()
}

// handlers are the requests that are being answered.
type handlers struct {
	active sync.WaitGroup

	mu      sync.Mutex // guards following
	refused bool       // no more requests are taken
}

// enter counts a request, unless the server is closed.
func (h *handlers) enter() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.refused {
		return false
	}
	h.active.Add(1)
	return true
}

// refuse takes no more requests; it is true the first time.
func (h *handlers) refuse() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	first := !h.refused
	h.refused = true
	return first
}

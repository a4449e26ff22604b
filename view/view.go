package view

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kinform/kinform/indexer"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/rest"
	"github.com/kinform/kinform/workqueue"
)

// View shows informers and queues on a page. It is an http.Handler, and can be mounted at any path
// that ends with a slash.
//
// A View is safe for concurrent use, and has no goroutines of its own: the requests of viewers do
// all the work. [View.Close] ends these requests.
type View struct {
	opts      Options
	start     time.Time
	recorders struct{ informers, queues recorders }
	viewers   atomic.Int64 // including Frames and Record
	seats     viewerSlots
	feeds     cacheFeeds
	sessions  sessions
	closed    chan struct{}
	closeOnce sync.Once

	mu        sync.Mutex // guards following
	informers []*informerEntry
	queues    []*queueEntry
	clients   []*rest.Client
	// sources return the entries of managers and factories.
	sources       []func() ([]*informerEntry, []*queueEntry)
	builders      map[string]*frameBuilder
	objectGetters map[string]objectGetter // by the names of informers
}

// New returns a View without informers and queues. It starts no goroutine.
func New(opts Options) (*View, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	v := &View{opts: opts, start: time.Now(), closed: make(chan struct{}), sessions: sessions{codes: map[digest]*code{}}, builders: map[string]*frameBuilder{}, objectGetters: map[string]objectGetter{}}
	v.recorders.informers = recorders{start: v.start, byName: map[string][]*recorder{}}
	v.recorders.queues = recorders{start: v.start, byName: map[string][]*recorder{}}
	return v, nil
}

// Token returns the secret for requests that change something. If Options.Private is set, all
// requests need the secret. Programs and scripts send it as "Authorization: Bearer ...". A user
// without a [View.Address] pastes it into the page. Do not put it into an address or a command
// line.
func (v *View) Token() string { return v.opts.Token }

// Close ends the streams of all viewers, so that the HTTP server can shut down. Later streams are
// refused. Close does not wait.
func (v *View) Close() { v.closeOnce.Do(func() { close(v.closed) }) }

// Informer adds an informer with all of its stages. The informer is an *informer.Informer of any
// type, or a handle on an informer that a factory shares. Its events are shown if it was made with
// [InformerOptions] of this view. The view keeps the informer and its store until remove is called.
func Informer[T any](v *View, i interface {
	Status() informer.Status
	Store() *indexer.Reader[T]
}) (remove func()) {
	name := i.Status().Name
	rec := v.recorders.informers.claim(name)
	v.mu.Lock()
	defer v.mu.Unlock()
	entry := &informerEntry{name: unique(name, v.informers), rec: rec, status: i.Status, store: storeReader[T](i.Store)}
	v.informers = append(v.informers, entry)
	return func() {
		v.recorders.informers.forget(rec)
		v.mu.Lock()
		defer v.mu.Unlock()
		v.informers = slices.DeleteFunc(v.informers, func(i *informerEntry) bool { return i == entry })
		delete(v.objectGetters, entry.name)
		delete(v.builders, entry.name)
	}
}

// Queue adds a queue. The names are the informers whose handlers fill the queue. The page shows the
// queue beside these informers, or beside every informer if there are no names. Its events are
// shown if it was made with [QueueOptions] of this view. The view keeps the queue until remove is
// called.
func Queue[K comparable](v *View, q *workqueue.Queue[K], informers ...string) (remove func()) {
	name := cmp.Or(q.Stats().Name, "queue")
	rec := v.recorders.queues.claim(q.Stats().Name)
	v.mu.Lock()
	defer v.mu.Unlock()
	entry := &queueEntry{name: unique(name, v.queues), rec: rec, stats: q.Stats, keys: keysOf(q), limits: q.Limits, sources: cleanAll(informers)}
	v.queues = append(v.queues, entry)
	return func() {
		v.recorders.queues.forget(rec)
		v.mu.Lock()
		defer v.mu.Unlock()
		v.queues = slices.DeleteFunc(v.queues, func(q *queueEntry) bool { return q == entry })
		delete(v.builders, entry.name)
	}
}

// Client adds the requests and bytes of a client to the page. The numbers of all clients are
// summed. Adding a client twice has no effect.
func (v *View) Client(c *rest.Client) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !slices.Contains(v.clients, c) {
		v.clients = append(v.clients, c)
	}
}

// unique returns the cleaned name. If another entry has the name, it appends the first number that
// makes the name unique.
func unique[P entry](name string, parts []P) string {
	name = clean(name)
	free := name
	for n := 2; hasEntry(parts, free); n++ {
		free = name + "~" + strconv.Itoa(n)
	}
	return free
}

// frameBuilder returns the builder for an informer and its queues, or for a single queue, by name.
// An empty name means the first informer, or the first queue if there is no informer. It returns
// nil if the name is unknown.
func (v *View) frameBuilder(name string) *frameBuilder {
	name, ok := v.resolveName(name)
	if !ok {
		return nil
	}
	informers, queues := v.all()
	v.mu.Lock()
	defer v.mu.Unlock()
	p := v.builders[name]
	if p == nil {
		// drop the builders whose entries have been removed
		maps.DeleteFunc(v.builders, func(old string, _ *frameBuilder) bool { return !hasEntry(informers, old) && !hasEntry(queues, old) })
		p = &frameBuilder{view: v, name: name, serverRequest: make(chan struct{}, 1)}
		v.builders[name] = p
	}
	return p
}

// resolveName returns the name of an informer or a queue on the page. It accepts the name on the
// page, and also the name that the program gave.
func (v *View) resolveName(name string) (known string, ok bool) {
	informers, queues := v.all()
	switch {
	case name != "":
		if hasEntry(informers, name) || hasEntry(queues, name) {
			return name, true
		}
		name = clean(name)
		return name, hasEntry(informers, name) || hasEntry(queues, name)
	case len(informers) > 0:
		return informers[0].name, true
	case len(queues) > 0:
		return queues[0].name, true
	}
	return "", false
}

// all() returns all current informers and queues, including the entries of managers and factories.
func (v *View) all() (informers []*informerEntry, queues []*queueEntry) {
	v.mu.Lock()
	informers, queues = slices.Clone(v.informers), slices.Clone(v.queues)
	sources := v.sources
	v.mu.Unlock()
	for _, s := range sources {
		more, others := s()
		for _, i := range more {
			i.name = unique(i.name, informers)
			informers = append(informers, i)
		}
		for _, q := range others {
			q.name = unique(q.name, queues)
			queues = append(queues, q)
		}
	}
	return informers, queues
}

// entriesOf returns the current entries of a pipeline: its informer, and the queues that the page
// shows beside it. For a single queue, the informer is nil.
func (v *View) entriesOf(p *frameBuilder) (*informerEntry, []*queueEntry) {
	informers, all := v.all()
	n := slices.IndexFunc(informers, func(i *informerEntry) bool { return i.name == p.name })
	var queues []*queueEntry
	for _, q := range all {
		if n >= 0 && (len(q.sources) == 0 || slices.Contains(q.sources, p.name)) || n < 0 && q.name == p.name {
			queues = append(queues, q)
		}
	}
	if n < 0 {
		return nil, queues
	}
	return informers[n], queues
}

// storeOf returns the builder and the informer of a pipeline by name. It fails if the informer's
// store is not known.
func (v *View) storeOf(name string) (*frameBuilder, *informerEntry, error) {
	p := v.frameBuilder(name)
	if p == nil {
		return nil, nil, ErrUnknownPipeline
	}
	of, _ := v.entriesOf(p)
	if of == nil || of.store == nil {
		return nil, nil, statusErrorf(http.StatusNotFound, "the store of %q cannot be shown: only its numbers are known", p.name)
	}
	return p, of, nil
}

// traffic returns the sum of the traffic of all clients.
func (v *View) traffic() traffic {
	v.mu.Lock()
	clients := v.clients
	v.mu.Unlock()
	return sumTraffic(clients)
}

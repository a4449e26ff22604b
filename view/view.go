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

// View shows informers and queues on a page. It is an http.Handler, to be mounted at any path that ends with a slash.
//
// It is safe for concurrent use, and has no goroutine: the requests of those who look do all the work. [View.Close]
// ends them.
type View struct {
	opts      Options
	start     time.Time
	recorders struct{ informers, queues recorders }
	viewers   atomic.Int64 // the program itself included
	seats     seats
	fed       feeds
	sessions  sessions
	closed    chan struct{}
	close     sync.Once

	mu        sync.Mutex // guards following
	informers []*informerPart
	queues    []*queuePart
	clients   []*rest.Client
	sources   []func() ([]*informerPart, []*queuePart) // of parts that come and go
	pictures  map[string]*picture
	wholes    map[string]whole // by the names of informers
}

// New returns a View that shows nothing yet. It starts no goroutine.
func New(opts Options) (*View, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	v := &View{opts: opts, start: time.Now(), closed: make(chan struct{}), sessions: sessions{codes: map[digest]*code{}}, pictures: map[string]*picture{}, wholes: map[string]whole{}}
	v.recorders.informers = recorders{start: v.start, byName: map[string][]*recorder{}}
	v.recorders.queues = recorders{start: v.start, byName: map[string][]*recorder{}}
	return v, nil
}

// Token returns the secret that a request needs which changes something, and every request if
// Options.Private. Programs and scripts send it as "Authorization: Bearer ...". A person pastes it into the page, if the address of
// [View.Address] is not at hand. It belongs neither into an address nor into a command line.
func (v *View) Token() string { return v.opts.Token }

// Close ends the streams of all who look, so that the server that has them can shut down. Later ones are
// refused. It does not wait.
func (v *View) Close() { v.close.Do(func() { close(v.closed) }) }

// Informer adds an informer, with all of its stages. It is an *informer.Informer of any type, or a handle on
// one that a factory shares. Its events are shown if it was made with [InformerOptions] of this view. The view keeps the
// informer and its store until remove is called.
func Informer[T any](v *View, i interface {
	Status() informer.Status
	Store() *indexer.Reader[T]
}) (remove func()) {
	name := i.Status().Name
	rec := v.recorders.informers.take(name)
	v.mu.Lock()
	defer v.mu.Unlock()
	added := &informerPart{name: unique(name, v.informers), rec: rec, status: i.Status, store: searched[T](i.Store)}
	v.informers = append(v.informers, added)
	return func() {
		v.recorders.informers.forget(rec)
		v.mu.Lock()
		defer v.mu.Unlock()
		v.informers = slices.DeleteFunc(v.informers, func(i *informerPart) bool { return i == added })
		delete(v.wholes, added.name)
		delete(v.pictures, added.name)
	}
}

// Queue adds a queue. informers are the names of the informers whose handlers fill it, beside which it is shown;
// if there are none, it is shown beside each. Its events are shown if it was made with [QueueOptions] of this
// view. The view keeps the queue until remove is called.
func Queue[K comparable](v *View, q *workqueue.Queue[K], informers ...string) (remove func()) {
	name := cmp.Or(q.Stats().Name, "queue")
	rec := v.recorders.queues.take(q.Stats().Name)
	v.mu.Lock()
	defer v.mu.Unlock()
	added := &queuePart{name: unique(name, v.queues), rec: rec, stats: q.Stats, keys: keysOf(q), limits: q.Limits, fedBy: cleaned(informers)}
	v.queues = append(v.queues, added)
	return func() {
		v.recorders.queues.forget(rec)
		v.mu.Lock()
		defer v.mu.Unlock()
		v.queues = slices.DeleteFunc(v.queues, func(q *queuePart) bool { return q == added })
		delete(v.pictures, added.name)
	}
}

// Client adds the numbers of a client: requests and bytes. Those of several are added up, each once.
func (v *View) Client(c *rest.Client) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !slices.Contains(v.clients, c) {
		v.clients = append(v.clients, c)
	}
}

// unique returns the name, cleaned, or with the first number that makes it another one than those of the parts.
func unique[P part](name string, parts []P) string {
	name = clean(name)
	free := name
	for n := 2; has(parts, free); n++ {
		free = name + "~" + strconv.Itoa(n)
	}
	return free
}

// picture returns what makes the frames of an informer and its queues, or of a queue alone: by the informer's
// name, or the queue's. An empty name is the first informer, or else the first queue. It returns nil if there is no such.
func (v *View) picture(name string) *picture {
	name, ok := v.find(name)
	if !ok {
		return nil
	}
	informers, queues := v.all()
	v.mu.Lock()
	defer v.mu.Unlock()
	p := v.pictures[name]
	if p == nil {
		maps.DeleteFunc(v.pictures, func(old string, _ *picture) bool { return !has(informers, old) && !has(queues, old) }) // They are gone.
		p = &picture{view: v, name: name, asking: make(chan struct{}, 1)}
		v.pictures[name] = p
	}
	return p
}

// find returns the name by which the page knows an informer or a queue. The page asks for that name, and a program for the one
// that it gave.
func (v *View) find(name string) (known string, ok bool) {
	informers, queues := v.all()
	switch {
	case name != "":
		if has(informers, name) || has(queues, name) {
			return name, true
		}
		name = clean(name)
		return name, has(informers, name) || has(queues, name)
	case len(informers) > 0:
		return informers[0].name, true
	case len(queues) > 0:
		return queues[0].name, true
	}
	return "", false
}

// all returns all informers and queues, as they are now, those of managers and factories included.
func (v *View) all() (informers []*informerPart, queues []*queuePart) {
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

// shown returns the parts of a picture, as they are now: its informer, nil if there is none of its name, and the queues beside
// it; or else the queue of its name.
func (v *View) shown(p *picture) (*informerPart, []*queuePart) {
	informers, all := v.all()
	n := slices.IndexFunc(informers, func(i *informerPart) bool { return i.name == p.name })
	var queues []*queuePart
	for _, q := range all {
		if n >= 0 && (len(q.fedBy) == 0 || slices.Contains(q.fedBy, p.name)) || n < 0 && q.name == p.name {
			queues = append(queues, q)
		}
	}
	if n < 0 {
		return nil, queues
	}
	return informers[n], queues
}

// stored returns a picture by its name, and its informer, whose store is known.
func (v *View) stored(name string) (*picture, *informerPart, error) {
	p := v.picture(name)
	if p == nil {
		return nil, nil, ErrNoSuch
	}
	of, _ := v.shown(p)
	if of == nil || of.store == nil {
		return nil, nil, refused(http.StatusNotFound, "the store of %q is not known: only its numbers are", p.name)
	}
	return p, of, nil
}

// traffic returns that of all clients.
func (v *View) traffic() traffic {
	v.mu.Lock()
	clients := v.clients
	v.mu.Unlock()
	return sum(clients)
}

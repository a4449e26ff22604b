package informer

import (
	"context"
	"slices"
	"sync"

	"github.com/kinform/kinform/deltafifo"
	"github.com/kinform/kinform/indexer"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/reflector"
)

// Informer keeps a store in step with a source and tells handlers what changed.
// The package comment has its guarantees. All methods are safe for concurrent
// use.
type Informer[T any] struct {
	opts      Options[T]
	store     *indexer.Store[T]
	queue     *deltafifo.FIFO[T]
	reflector *reflector.Reflector[T]

	// synced is closed when the first list is in the store.
	synced chan struct{}
	// stopped is closed when Run is about to return.
	stopped chan struct{}

	// handlers are the goroutines of the registrations.
	handlers sync.WaitGroup

	mu    sync.Mutex // guards following
	phase phase
	// registrations is replaced, never changed in place, so that the consumer can
	// range over it without the lock.
	registrations []*Registration[T]
	named         int
	initialPosted bool
	// resyncDue are the registrations that the next Sync deltas are for.
	resyncDue map[*Registration[T]]bool
}

// phase is where an informer is in its life: a one-way street.
type phase uint8

const (
	created phase = iota
	running
	ended
)

// New makes an informer of what source lists and watches. It starts nothing: see
// Run. An error says which option is wrong.
func New[T any](source listwatch.Source[T], opts Options[T]) (*Informer[T], error) {
	opts = opts.withDefaults()
	store, err := indexer.New(opts.Store)
	if err != nil {
		return nil, err
	}
	i := &Informer[T]{
		opts:      opts,
		store:     store,
		queue:     deltafifo.New(known[T]{store}, opts.Queue),
		synced:    make(chan struct{}),
		stopped:   make(chan struct{}),
		resyncDue: make(map[*Registration[T]]bool),
	}
	if opts.Transform != nil {
		source = transformed[T]{source, opts.Transform}
	}
	i.reflector, err = reflector.New(source, sink[T]{i.queue}, opts.Reflector)
	if err != nil {
		return nil, err
	}
	return i, nil
}

// Run lists, watches, stores and tells handlers, until ctx ends. It returns when
// everything that it started has ended, including a handler's call in progress:
// a handler that never returns keeps Run from returning.
//
// When ctx ends, what the reflector had received is still stored, so that the
// store ends in a state that the server had. Events that no handler has taken by
// then are dropped.
//
// Run returns nil when ctx ended, ErrAlreadyRun when called twice, and otherwise
// the reflector's reason for giving up.
func (i *Informer[T]) Run(ctx context.Context) error {
	if err := i.start(); err != nil {
		return err
	}
	var reason error
	var reflecting sync.WaitGroup
	reflecting.Go(func() {
		reason = i.reflector.Run(ctx)
		i.queue.Close()
	})
	i.consume()
	reflecting.Wait()
	i.end()
	return reason
}

func (i *Informer[T]) start() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.phase != created {
		return ErrAlreadyRun
	}
	i.phase = running
	for _, r := range i.registrations {
		i.handlers.Go(r.run)
	}
	return nil
}

func (i *Informer[T]) end() {
	i.mu.Lock()
	i.phase = ended
	registrations := i.registrations
	i.registrations = nil
	i.mu.Unlock()
	for _, r := range registrations {
		r.stop()
	}
	i.handlers.Wait()
	close(i.stopped)
}

// Store returns the reading half of the store. It may be read at any time, from
// before Run until long after it; whether it is complete, WaitForSync tells.
func (i *Informer[T]) Store() *indexer.Reader[T] { return i.store.Reader }

// AddIndex adds an index to the store, at any time. Objects that are stored are
// indexed when it returns. An error, of fn or because the name is taken, leaves
// the store as it was.
func (i *Informer[T]) AddIndex(name string, fn indexer.IndexFunc[T]) error {
	return i.store.AddIndex(name, fn)
}

// AddHandler registers a handler. Before Run, it is told of everything from the
// first list on; later, it first gets an Added with cause Initial for every
// stored object, in no particular order, and then what follows (G5). The error
// is ErrStopped, or says which option is wrong.
//
// The handler is called by a goroutine of its own, one event at a time (G4).
// Should it panic, the panic is logged and counted, and the next event follows.
func (i *Informer[T]) AddHandler(handle func(Event[T]), opts HandlerOptions) (*Registration[T], error) {
	if err := opts.validate(); err != nil {
		return nil, err
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.phase == ended {
		return nil, ErrStopped
	}
	i.named++
	r := newRegistration(i, handle, opts.withDefaults(i.named))
	// Whatever batch is applied after this snapshot is posted to r, as r is among
	// the registrations before the consumer looks; whatever was applied before is
	// in the snapshot, and the revision tells the consumer so.
	r.snapshot = i.store.Snapshot()
	r.snapshotRevision = r.snapshot.Revision()
	r.snapshotSynced = i.initialPosted
	i.registrations = append(slices.Clip(i.registrations), r)
	if i.phase == running {
		i.handlers.Go(r.run)
	}
	return r, nil
}

// remove takes r out of the registrations.
func (i *Informer[T]) remove(r *Registration[T]) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.registrations = slices.DeleteFunc(slices.Clone(i.registrations), func(other *Registration[T]) bool { return other == r })
	delete(i.resyncDue, r)
}

// resync asks for a Sync delta for every stored object, on behalf of r.
func (i *Informer[T]) resync(r *Registration[T]) {
	i.mu.Lock()
	i.resyncDue[r] = true
	i.mu.Unlock()
	_ = i.queue.Resync() // Its only error is that the queue is closed: no resync is owed then.
}

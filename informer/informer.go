package informer

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/kinform/kinform/deltafifo"
	"github.com/kinform/kinform/indexer"
	"github.com/kinform/kinform/informer/sources"
	"github.com/kinform/kinform/internal/contain"
	"github.com/kinform/kinform/internal/logthrottle"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/reflector"
	"k8s.io/apimachinery/pkg/types"
)

// Informer keeps a store in step with a source and notifies handlers of changes. The package
// comment has its guarantees. All methods are safe for concurrent use.
type Informer[T any] struct {
	opts      Options[T]
	source    listwatch.Source[T]
	store     *indexer.Store[T]
	queue     *deltafifo.FIFO[T]
	reflector *reflector.Reflector[T]
	gate      gate
	hooks     contain.Hooks

	// synced is closed when the first list is in the store.
	synced chan struct{}
	// stopped is closed when Run no longer calls handlers.
	stopped chan struct{}

	// indexFailureLog limits the log lines about objects that an index function refused. Only the
	// goroutine of consume uses it.
	indexFailureLog logthrottle.Throttle
	// listed says that the first list has been applied, except for objects that were refused. Only
	// the goroutine of consume uses it.
	listed bool
	// inPlaceLogged says that a warning was logged about a server that changes objects without
	// changing their version. Only the goroutine of consume uses it.
	inPlaceLogged bool

	// handlers are the goroutines of the registrations.
	handlers sync.WaitGroup

	mu      sync.Mutex // guards following
	phase   phase
	running context.Context // the context of Run
	// registrations is replaced, never changed in place, so that the consumer can
	// range over it without the lock.
	registrations []*Registration[T]
	handlerCount  int
	// preloads says that objects will be preloaded into the store.
	preloads bool
	// populated says that the first list is in the store. Handlers may not have its events yet.
	populated bool
	// refused has the objects that an index function has refused.
	refused map[types.NamespacedName]*listwatch.ObjectError
	// refusedCount is the length of the map refused, for readers that do not hold the lock.
	refusedCount atomic.Int64
	// recovering has objects that were undecodable, for which the queue now has a decoded state or
	// a deletion. An entry stays until the store has applied that change.
	recovering map[types.NamespacedName]recoveringObject
	// batch is the number of the batch that is being stored, or was stored last. The store contains
	// that batch when its revision has reached the field revision.
	batch    int
	revision uint64
	// resyncDue has the registrations that get an event for the next Sync deltas.
	resyncDue map[*Registration[T]]bool
}

// phase is the phase in the life of an informer. It only moves forward.
type phase uint8

const (
	created phase = iota
	running
	ended
)

// New makes an informer for the objects of source; sources.Transform can change them first. It
// starts nothing: see Run. New returns an error if an option is invalid, or if the source is nil,
// even inside Merge or Transform.
func New[T any](source listwatch.Source[T], opts Options[T]) (*Informer[T], error) {
	if contain.IsNil(source) {
		return nil, errors.New("informer: New needs a source")
	}
	if err := sources.Unusable(source); err != nil {
		return nil, err
	}
	opts = opts.withDefaults()
	i := &Informer[T]{
		opts:      opts,
		synced:    make(chan struct{}),
		stopped:   make(chan struct{}),
		resyncDue: make(map[*Registration[T]]bool),
	}
	i.opts.containHooks(&i.hooks)
	opts = i.opts
	opts.Store.Undecodable = i.whyUndecodable
	var err error
	if i.store, err = indexer.New(opts.Store); err != nil {
		return nil, err
	}
	i.queue = deltafifo.New(&known[T]{i}, opts.Queue)
	i.source = source
	i.reflector, err = reflector.New(source, &sink[T]{i.queue, i}, opts.Reflector)
	if err != nil {
		return nil, err
	}
	if opts.Preload != nil {
		if err := opts.Preload(i); err != nil {
			opts.Logger.Warn("nothing is preloaded, so the informer begins with a list", "informer", opts.Name, "err", err)
		}
	}
	return i, nil
}

// Run lists, watches, stores and notifies handlers until ctx ends. It returns when everything that
// it started has ended, including a handler's call in progress. A handler that never returns keeps
// Run from returning.
//
// When ctx ends, no further call of a handler begins, and events that wait are dropped. The store
// still gets everything that the reflector had received, so its final state is a state that the
// server had.
//
// Run returns nil when ctx ended, and ErrAlreadyRun when called twice. If
// reflector.Options.GiveUpAfter is set, Run also ends after that many consecutive permanent
// failures: the resource does not exist, reading it is forbidden, or its list is too large. Run
// ends as well if the source can never work (listwatch.ErrUnusable), such as a source for a wrong
// type. In these cases the error is a reflector.Error. User code that the reflector calls, such as
// OnError or a Transform, must not call runtime.Goexit (testing's FailNow calls it). If it does,
// Run ends with an error that says so.
func (i *Informer[T]) Run(ctx context.Context) error {
	if err := i.start(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	reflectorEnded := make(chan error, 1)
	ended := make(chan struct{})
	// Stop all handlers at once: a handler that blocks would delay the others.
	context.AfterFunc(ctx, func() {
		i.end()
		close(ended)
	})
	defer cancel() // In case user code that consume calls ends this goroutine.
	go func() {
		err := errGoexit
		defer func() {
			cancel() // in case the reflector has given up
			i.queue.Close()
			reflectorEnded <- err
		}()
		i.runStage(ctx, "reflect", "", func() { err = i.reflector.Run(ctx) })
	}()
	i.runStage(ctx, "store", "", i.consume)
	<-ended
	i.handlers.Wait()
	return <-reflectorEnded
}

func (i *Informer[T]) start(ctx context.Context) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.phase != created {
		return ErrAlreadyRun
	}
	i.phase, i.running = running, ctx
	for _, r := range i.registrations {
		i.startHandlerLocked(r)
	}
	return nil
}

// end stops all handlers, and releases the callers that wait for a sync.
func (i *Informer[T]) end() {
	i.mu.Lock()
	i.phase = ended
	registrations := i.registrations
	i.mu.Unlock()
	close(i.stopped)
	for _, r := range registrations {
		r.stop()
	}
}

// Store returns a read-only view of the store. The view may be read at any time, before, during and
// after Run. The store is complete when WaitForSync has returned nil.
func (i *Informer[T]) Store() *indexer.Reader[T] { return i.store.Reader }

// AddIndex adds an index to the store, at any time. Stored objects are indexed when it returns. If
// fn fails, or the name is in use, AddIndex returns an error, and the store is unchanged.
func (i *Informer[T]) AddIndex(name string, fn indexer.IndexFunc[T]) error {
	return i.store.AddIndex(name, fn)
}

// AddHandler registers a handler. A handler that is added before Run receives everything from the
// first list on. The goroutine of a handler that is added later begins at once, perhaps before
// AddHandler returns. Such a handler first receives an Added with cause Initial for every stored
// object, in no particular order, and then every later event (G5). The stored objects stay in
// memory until the handler has received all of them. AddHandler returns ErrStopped after the
// informer has stopped, and an error if handle is nil or an option is invalid.
//
// The handler has a goroutine of its own, which calls it with one event at a time (G4). If the
// handler is more than 1,024 events behind, the informer by default merges the events of one
// object, up to its last state. See HandlerOptions.Overflow for other policies. If the handler
// panics or calls runtime.Goexit, as testing's FailNow does, the event counts as handled, and the
// informer continues with the next one. The informer counts these failures. It logs the first one,
// and then one every five minutes. A handler that must not lose an event has to store it itself, as
// package controller does.
func (i *Informer[T]) AddHandler(handle func(Event[T]), opts HandlerOptions) (*Registration[T], error) {
	if handle == nil {
		return nil, errors.New("informer: AddHandler needs a handler")
	}
	if err := opts.validate(); err != nil {
		return nil, err
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.phase == ended {
		return nil, ErrStopped
	}
	i.handlerCount++
	r := newRegistration(i, handle, opts.withDefaults(i.handlerCount))
	// Changes that are applied after this snapshot are posted to r, because r is registered before
	// the consumer reads the registrations. The snapshot contains earlier changes, and the consumer
	// skips them by its revision.
	snapshot := i.store.Snapshot()
	r.startRevision = snapshot.Revision()
	if snapshot.Len() > 0 {
		r.mailbox.postSnapshot(snapshot)
	} else {
		defer snapshot.Release()
	}
	if i.populated {
		r.mailbox.postSyncPoint()
	}
	i.registrations = append(slices.Clip(i.registrations), r)
	if i.phase == running {
		i.startHandlerLocked(r)
	}
	return r, nil
}

// remove unregisters r and stops it.
func (i *Informer[T]) remove(r *Registration[T]) {
	i.mu.Lock()
	if at := slices.Index(i.registrations, r); at >= 0 {
		i.registrations = slices.Delete(slices.Clone(i.registrations), at, at+1)
		delete(i.resyncDue, r)
		if i.phase == created {
			close(r.done) // Its goroutine never ran.
		}
	}
	i.mu.Unlock()
	r.stop()
}

// resync requests a Sync delta for every stored object, on behalf of r. It does nothing while the
// store is empty.
func (i *Informer[T]) resync(r *Registration[T]) {
	i.mu.Lock()
	due := i.populated && i.store.Len() > 0 && slices.Contains(i.registrations, r)
	if due {
		i.resyncDue[r] = true
	}
	i.mu.Unlock()
	if due {
		_ = i.queue.Resync() // Its only error is that the queue is closed: no resync is due then.
	}
}

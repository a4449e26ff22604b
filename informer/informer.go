package informer

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/kinform/kinform/deltafifo"
	"github.com/kinform/kinform/indexer"
	"github.com/kinform/kinform/informer/sources"
	"github.com/kinform/kinform/internal/contain"
	"github.com/kinform/kinform/internal/remind"
	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/reflector"
	"k8s.io/apimachinery/pkg/types"
)

// Informer keeps a store in step with a source and tells handlers what changed.
// The package comment has its guarantees. All methods are safe for concurrent
// use.
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

	// unindexed is for the log, and belongs to the goroutine that consumes.
	unindexed remind.Reminder
	// listed says that the first list has been applied, as far as it could be. It
	// belongs to the goroutine that consumes.
	listed bool

	// handlers are the goroutines of the registrations.
	handlers sync.WaitGroup

	mu      sync.Mutex // guards following
	phase   phase
	running context.Context // of Run
	// registrations is replaced, never changed in place, so that the consumer can
	// range over it without the lock.
	registrations []*Registration[T]
	named         int
	// preloads says that there is something for the store to begin with.
	preloads bool
	// populated says that the first list is in the store, or is about to be told.
	populated bool
	// refused are the objects that an index function has refused.
	refused map[types.NamespacedName]*listwatch.ObjectError
	// refusing is how many they are, for who does not have the lock.
	refusing atomic.Int64
	// late are the objects that the reflector could not read, and that it has queued or
	// found to be gone since then, as long as the store does not know of that.
	late map[types.NamespacedName]lateObject
	// turn is of the batch that is stored now, or was stored last: the store has it from
	// its revision on.
	turn     int
	revision uint64
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

// New makes an informer of what source lists and watches; sources.Transform changes the
// objects of a source on their way. It starts nothing: see Run. An error says which option
// is wrong, or that there is no source, also where Merge or Transform was given none.
func New[T any](source listwatch.Source[T], opts Options[T]) (*Informer[T], error) {
	if isNil(source) {
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
	opts.Store.Unreadable = i.whyUnreadable
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
			opts.Logger.Warn("nothing is preloaded, the informer begins with a list", "informer", opts.Name, "err", err)
		}
	}
	return i, nil
}

// Run lists, watches, stores and tells handlers, until ctx ends. It returns when
// everything that it started has ended, including a handler's call in progress:
// a handler that never returns keeps Run from returning.
//
// When ctx ends, no further call of a handler begins, and events that wait are
// dropped. The store still gets everything that the reflector had received, so that it ends
// in a state that the server had.
//
// Run returns nil when ctx ended, and ErrAlreadyRun when called twice. Where
// reflector.Options.GiveUpAfter asks for that, it also ends when the server has
// said that often that the resource does not exist, or must not be read; and where
// the source can never work (listwatch.ErrUnusable), as one that is made for a wrong
// type. The error is a reflector.Error then. User code that the reflector calls, such as
// OnError or a Transform, must not call runtime.Goexit, as testing's FailNow does: Run
// ends with an error that says so.
func (i *Informer[T]) Run(ctx context.Context) error {
	if err := i.start(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	reflected := make(chan error, 1)
	ended := make(chan struct{})
	// Handlers end first: one that blocks would hold up the others.
	context.AfterFunc(ctx, func() {
		i.end()
		close(ended)
	})
	defer cancel() // Also where user code that consume calls ends this goroutine.
	go func() {
		err := errGoexit
		defer func() {
			cancel() // It may have given up.
			i.queue.Close()
			reflected <- err
		}()
		i.in(ctx, "reflect", "", func() { err = i.reflector.Run(ctx) })
	}()
	i.in(ctx, "store", "", i.consume)
	<-ended
	i.handlers.Wait()
	return <-reflected
}

func (i *Informer[T]) start(ctx context.Context) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.phase != created {
		return ErrAlreadyRun
	}
	i.phase, i.running = running, ctx
	for _, r := range i.registrations {
		i.hireLocked(r)
	}
	return nil
}

// end stops all handlers, and lets those who wait for a sync know.
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
// first list on. Later, its goroutine begins at once, perhaps before AddHandler has
// returned: the handler first gets an Added with cause Initial for every stored
// object, in no particular order, and then every later event (G5). As long as it
// has not been told of all of them, the objects that were stored stay in memory.
// The error is ErrStopped, or says which option is wrong.
//
// The handler is called by a goroutine of its own, one event at a time (G4). A handler that is
// more than 1,024 events behind is by default told fewer: the informer merges the events of one
// object, up to its last state. See HandlerOptions.Overflow for other ways.
// If it panics or calls runtime.Goexit, as testing's FailNow does, the informer counts that, logs it
// when it begins and every five minutes while it goes on, and goes on with the next event: the event
// counts as handled. A handler that must not lose an event has to keep it, as package controller does.
func (i *Informer[T]) AddHandler(handle func(Event[T]), opts HandlerOptions) (*Registration[T], error) {
	return i.addHandler(handle, opts, nil)
}

// addHandler is AddHandler with more events to be told after the last initial add:
// see [catchUp], which the handler's goroutine calls.
func (i *Informer[T]) addHandler(handle func(Event[T]), opts HandlerOptions, catchUp catchUp[T]) (*Registration[T], error) {
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
	i.named++
	r := newRegistration(i, handle, opts.withDefaults(i.named))
	r.catchUp, r.first.catchesUp = catchUp, catchUp != nil
	// Whatever is applied after this snapshot is posted to r, as r is among the
	// registrations before the consumer looks; what was applied before is in the
	// snapshot, and its revision tells the consumer so.
	snapshot := i.store.Snapshot()
	r.first.begins = snapshot.Revision()
	if snapshot.Len() > 0 {
		r.mailbox.postSnapshot(snapshot)
	} else {
		defer snapshot.Release()
	}
	if i.populated {
		r.mailbox.postMark(snapshot.ResourceVersion())
	}
	i.registrations = append(slices.Clip(i.registrations), r)
	if i.phase == running {
		i.hireLocked(r)
	}
	return r, nil
}

// remove takes r out of the registrations and stops it.
func (i *Informer[T]) remove(r *Registration[T]) {
	i.mu.Lock()
	if at := slices.Index(i.registrations, r); at >= 0 {
		i.registrations = slices.Delete(slices.Clone(i.registrations), at, at+1)
		delete(i.resyncDue, r)
		if i.phase == created {
			close(r.done) // It never ran.
		}
	}
	i.mu.Unlock()
	r.stop()
}

// resync asks for a Sync delta for every stored object, on behalf of r. Nothing
// is owed while there is nothing to tell of.
func (i *Informer[T]) resync(r *Registration[T]) {
	i.mu.Lock()
	due := i.populated && i.store.Len() > 0 && slices.Contains(i.registrations, r)
	if due {
		i.resyncDue[r] = true
	}
	i.mu.Unlock()
	if due {
		_ = i.queue.Resync() // Its only error is that the queue is closed: no resync is owed then.
	}
}

// isNil reports whether something is nil, or a pointer that is.
func isNil(something any) bool {
	v := reflect.ValueOf(something)
	return !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil()
}

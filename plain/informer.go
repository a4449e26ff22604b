// The informer. It is the consumer of the queue: for each delta it changes the store first and tells the
// handlers second, so that a handler that looks into the store finds what it was told of, or something newer.
// What a handler is told depends on the store, not on the delta: an object that was not there is added,
// however it was heard of; one that was there is updated; one that is there in the very same version is
// nobody's business, except in a resync, which is there to tell again.

package plain

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Options are what an informer can be asked for. The zero value works.
type Options[T metav1.Object] struct {
	// Indexes are those of the store, by name.
	Indexes map[string]IndexFunc[T]

	// Resync is how often handlers are told of every object again. 0 is never.
	Resync time.Duration

	// OnError is told of every failure, which is retried in any case. nil logs it.
	OnError func(error)
}

// Informer is a copy of a collection of the server, and tells of its changes.
type Informer[T metav1.Object] struct {
	Store *Store[T]

	client  *Client[T]
	options Options[T]
	queue   *DeltaFIFO[T]

	mu       sync.Mutex // guards following, and lets one at a time change the store
	handlers []*Handler[T]
	running  sync.WaitGroup // the handlers
	started  bool
	stopped  bool
}

// NewInformer makes an informer of a client's collection.
func NewInformer[T metav1.Object](client *Client[T], options Options[T]) *Informer[T] {
	if options.OnError == nil {
		options.OnError = func(err error) { slog.Warn("informer", "err", err) }
	}
	store := NewStore(options.Indexes)
	return &Informer[T]{Store: store, client: client, options: options, queue: NewDeltaFIFO(store)}
}

// Run works until ctx ends, and until everything that it started has ended. It runs once.
func (i *Informer[T]) Run(ctx context.Context) error {
	i.mu.Lock()
	if i.started {
		i.mu.Unlock()
		return errors.New("an informer runs once")
	}
	i.started = true
	for _, h := range i.handlers {
		i.running.Go(h.run)
	}
	i.mu.Unlock()

	var producers sync.WaitGroup
	producers.Go(func() {
		reflector := Reflector[T]{client: i.client, queue: i.queue, failed: i.options.OnError}
		reflector.Run(ctx)
		i.queue.Close() // The consumer takes what is left, and ends.
	})
	producers.Go(func() { i.resync(ctx) })
	for {
		err := i.queue.Pop(i.apply)
		if errors.Is(err, ErrClosed) {
			break
		} else if err != nil {
			i.options.OnError(err)
		}
	}
	producers.Wait()

	i.mu.Lock()
	i.stopped = true
	for _, h := range i.handlers {
		h.stop()
	}
	i.mu.Unlock()
	i.running.Wait()
	return nil
}

// apply changes the store and tells the handlers. An object that the store refuses is told to nobody.
func (i *Informer[T]) apply(deltas []Delta[T], initial bool) (failed error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, delta := range deltas {
		key := KeyOf(delta.Object)
		old, stored := i.Store.Get(key)
		event := Event[T]{Old: old, New: delta.Object, Initial: initial, FinalStateUnknown: delta.FinalStateUnknown}
		switch {
		case delta.Type == Deleted:
			if !stored {
				continue
			}
			event.Type = Deleted
			i.Store.Delete(key)
		default:
			event.Type = Added
			if stored {
				event.Type = Updated
			}
			if stored && delta.Type != Sync && old.GetResourceVersion() == delta.Object.GetResourceVersion() {
				continue
			}
			if err := i.Store.Put(delta.Object); err != nil {
				failed = errors.Join(failed, err)
				continue
			}
		}
		for _, h := range i.handlers {
			h.tell(event)
		}
	}
	return failed
}

// resync has everything told again, now and then.
func (i *Informer[T]) resync(ctx context.Context) {
	if i.options.Resync <= 0 {
		return
	}
	for wait(ctx, i.options.Resync) {
		if i.queue.Resync() != nil {
			return
		}
	}
}

// AddHandler registers a handler. It is first told of every object that is stored, as Initial, and then of
// each change: none is missing and none comes twice, as nothing is applied meanwhile.
func (i *Informer[T]) AddHandler(handle func(Event[T])) (*Handler[T], error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.stopped {
		return nil, errors.New("the informer has stopped")
	}
	h := newHandler(handle, i.queue.Synced)
	for _, object := range i.Store.List() {
		h.tell(Event[T]{Type: Added, New: object, Initial: true})
	}
	i.handlers = append(slices.DeleteFunc(i.handlers, (*Handler[T]).hasStopped), h)
	if i.started {
		i.running.Go(h.run)
	}
	return h, nil
}

// Synced says that the first list is in the store.
func (i *Informer[T]) Synced() bool { return i.queue.Synced() }

// Applied returns the version through which the store is complete, "" before the first list is in it.
func (i *Informer[T]) Applied() string { return i.queue.Applied() }

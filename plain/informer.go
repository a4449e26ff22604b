// The informer. It takes the deltas from the queue. For each it changes the store first and tells the handlers
// second: a handler that looks into the store finds the event's object there, or something newer. The event
// depends on the store, not on the delta. An object that the store lacks is added, whether a list or a watch
// told of it. An object that the store has is updated. If the store has it in the very same version, nothing
// has happened, and no handler is told, except in a resync: its purpose is to tell again.

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

// Options are the choices that an informer has. The zero value works.
type Options[T metav1.Object] struct {
	// Indexes are the store's, by name.
	Indexes map[string]IndexFunc[T]

	// Resync is how often handlers are told of every object again. 0 is never.
	Resync time.Duration

	// OnError is told of every failure. nil logs it. A request that failed is made again in any case. An object
	// that an index function refuses is tried again when it changes, or is listed.
	OnError func(error)
}

// Informer keeps a copy of a collection of the server, and tells handlers of its changes.
type Informer[T metav1.Object] struct {
	Store *Store[T]

	client  *Client[T]
	options Options[T]
	queue   *DeltaFIFO[T]

	mu       sync.Mutex // guards following; whoever changes the store holds it
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

// Run works until ctx ends, and returns when everything that it started has ended. It runs once.
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
		h.Remove()
	}
	i.mu.Unlock()
	i.running.Wait()
	return nil
}

// apply changes the store and tells the handlers. It tells nobody of an object that the store refuses.
func (i *Informer[T]) apply(deltas []Delta[T], initial bool) (failed error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, delta := range deltas {
		key := KeyOf(delta.Object)
		old, stored := i.Store.Get(key)
		event := Event[T]{Type: Updated, Old: old, New: delta.Object, Initial: initial, FinalStateUnknown: delta.FinalStateUnknown}
		if !stored {
			event.Type = Added
		}
		if delta.Type == Deleted {
			if !stored {
				continue
			}
			event.Type = Deleted
			i.Store.Delete(key)
		} else {
			if stored && delta.Type != Sync && old.GetResourceVersion() == delta.Object.GetResourceVersion() {
				continue
			}
			if err := i.Store.Put(delta.Object); err != nil {
				failed = errors.Join(failed, err)
				continue
			}
		}
		i.handlers = slices.DeleteFunc(i.handlers, func(h *Handler[T]) bool { return !h.tell(event) })
	}
	return failed
}

// resync has handlers told of every object again, now and then.
func (i *Informer[T]) resync(ctx context.Context) {
	for i.options.Resync > 0 && wait(ctx, i.options.Resync) {
		if i.queue.Resync() != nil {
			return
		}
	}
}

// AddHandler registers a handler. The handler is first told of every stored object, as Initial, and then of
// each change. No change is missing and none comes twice, as apply waits for the lock meanwhile.
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
	i.handlers = append(i.handlers, h)
	if i.started {
		i.running.Go(h.run)
	}
	return h, nil
}

// Synced says that the first list is in the store.
func (i *Informer[T]) Synced() bool { return i.queue.Synced() }

// Applied returns the version up to which the store is complete, "" before the first list is in it.
func (i *Informer[T]) Applied() string { return i.queue.Applied() }

// What package informer does beyond this file, and why:
//
//   - It stores a batch of deltas in one step, so that readers see only states that the server had, and a burst
//     wakes each handler once.
//   - An object that was deleted and created again while nobody watched is told as deleted and added, as the
//     two have different UIDs. Here, it is an update.
//   - An object that is not stored (an index function failed, or nobody could read it) is a state that a
//     program can see and wait for. Here, it is a line in the log.
//   - A program can wait until the store has reached a version. Here, it can ask how far the store is.
//   - A factory shares informers, several sources can be merged, and an informer can start from a file: programs
//     have many parts, many namespaces, and restarts.

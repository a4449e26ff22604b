// The informer. It takes the deltas from the queue. For each delta it first changes the store, and
// then notifies the handlers. So a handler that reads the store finds the event's object there, or
// a newer state. The type of the event depends on the store, not on the delta. An object that the
// store lacks is added, whether it came from a list or a watch. An object that the store has is
// updated. If the store has the object in the very same version, nothing has happened, and no
// handler is notified. A resync is the exception, because its purpose is to notify handlers again.

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

// Options are the options of an informer. The zero value is ready for use.
type Options[T metav1.Object] struct {
	// Indexes are the indexes of the store, by name.
	Indexes map[string]IndexFunc[T]

	// Resync is the interval at which handlers get every object again. 0 means never.
	Resync time.Duration

	// OnError is called for every failure. If it is nil, the informer logs failures. In both cases
	// it retries failed requests. If an index function fails on an object, the informer tries to
	// store the object again when it changes, or is listed.
	OnError func(error)
}

// Informer keeps a copy of a collection of the server, and notifies handlers of its changes.
type Informer[T metav1.Object] struct {
	Store *Store[T]

	client  *Client[T]
	options Options[T]
	queue   *DeltaFIFO[T]

	mu       sync.Mutex // guards following; held while the store changes
	handlers []*Handler[T]
	running  sync.WaitGroup // the handlers
	started  bool
	stopped  bool
}

// NewInformer makes an informer for a client's collection.
func NewInformer[T metav1.Object](client *Client[T], options Options[T]) *Informer[T] {
	if options.OnError == nil {
		options.OnError = func(err error) { slog.Warn("informer", "err", err) }
	}
	store := NewStore(options.Indexes)
	return &Informer[T]{Store: store, client: client, options: options, queue: NewDeltaFIFO(store)}
}

// Run works until ctx ends, and returns when all goroutines that it started have ended. A second
// call returns an error.
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
		i.queue.Close() // The consumer applies the queued deltas, and ends.
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

// apply changes the store and notifies the handlers. If an index function fails on an object, apply
// neither stores it nor notifies the handlers.
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
		i.handlers = slices.DeleteFunc(i.handlers, func(h *Handler[T]) bool { return !h.post(event) })
	}
	return failed
}

// resync queues a resync at each interval, until ctx ends.
func (i *Informer[T]) resync(ctx context.Context) {
	for i.options.Resync > 0 && wait(ctx, i.options.Resync) {
		if i.queue.Resync() != nil {
			return
		}
	}
}

// AddHandler registers a handler. The handler first gets every stored object, as Initial, and then
// each change. The handler gets each change exactly once, because apply waits for the lock that
// AddHandler holds.
func (i *Informer[T]) AddHandler(handle func(Event[T])) (*Handler[T], error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.stopped {
		return nil, errors.New("the informer has stopped")
	}
	h := newHandler(handle, i.queue.Synced)
	for _, object := range i.Store.List() {
		h.post(Event[T]{Type: Added, New: object, Initial: true})
	}
	i.handlers = append(i.handlers, h)
	if i.started {
		i.running.Go(h.run)
	}
	return h, nil
}

// Synced reports whether the first list is in the store.
func (i *Informer[T]) Synced() bool { return i.queue.Synced() }

// Applied returns the version up to which the store is complete, or "" before the first list.
func (i *Informer[T]) Applied() string { return i.queue.Applied() }

// Package informer does more than this file, for these reasons:
//
//   - It stores a batch of deltas in one step, so that readers see only states that the server had.
//     A burst wakes each handler once.
//   - If an object was deleted and created again while no watch was open, handlers get a deletion
//     and an addition, because the UIDs differ. Here, they get an update.
//   - An object may be missing because an index function failed, or because it could not be
//     decoded. A program can look up such objects, and wait until they are stored. Here, the
//     failure is only a line in the log.
//   - A program can wait until the store has reached a version. Here, it can only read the version
//     of the store.
//   - A factory shares informers, several sources can be merged, and an informer can start from a
//     file: programs have many parts, many namespaces, and restarts.

package informer

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/kinform/kinform/indexer"
)

// ErrReleased is returned when a handler is added through a released handle.
var ErrReleased = errors.New("informer: the handle has been released")

// Handle is one user's share in an informer of a [Factory]. All methods are safe
// for concurrent use.
type Handle[T any] struct {
	factory  *Factory
	shared   *shared
	informer *Informer[T]

	mu            sync.Mutex // guards following
	registrations []*Registration[T]
	released      bool
}

// Store is [Informer.Store]. After Release the store may still be read, but it may no longer
// change.
func (h *Handle[T]) Store() *indexer.Reader[T] { return h.informer.Store() }

// AddIndex is [Informer.AddIndex]. The index stays as long as the informer.
func (h *Handle[T]) AddIndex(name string, fn indexer.IndexFunc[T]) error {
	return h.informer.AddIndex(name, fn)
}

// AddHandler is [Informer.AddHandler]. Release removes the handler.
func (h *Handle[T]) AddHandler(handle func(Event[T]), opts HandlerOptions) (*Registration[T], error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.released {
		return nil, ErrReleased
	}
	r, err := h.informer.AddHandler(handle, opts)
	if err == nil {
		// Forget removed handlers: a user may add and remove many during the life of the handle.
		h.registrations = slices.DeleteFunc(h.registrations, func(r *Registration[T]) bool { return isClosed(r.done) })
		h.registrations = append(h.registrations, r)
	}
	return r, err
}

// Synced is [Informer.Synced].
func (h *Handle[T]) Synced() <-chan struct{} { return h.informer.Synced() }

// WaitForSync is [Informer.WaitForSync].
func (h *Handle[T]) WaitForSync(ctx context.Context) error { return h.informer.WaitForSync(ctx) }

// Healthy is [Informer.Healthy].
func (h *Handle[T]) Healthy(maxStaleness time.Duration) error {
	return h.informer.Healthy(maxStaleness)
}

// Status is [Informer.Status].
func (h *Handle[T]) Status() Status { return h.informer.Status() }

// Release ends the user's share: it removes the user's handlers and, if this was the last share,
// stops the informer. It waits for calls in progress of these handlers, and then, after the last
// share, for the end of the informer. If ctx ends first, Release returns the cause of ctx; handlers
// and informer still end. A handler that releases its own handle must not wait for itself: it
// passes a context that has ended. A second Release waits again.
func (h *Handle[T]) Release(ctx context.Context) error {
	h.mu.Lock()
	first := !h.released
	h.released = true
	registrations := h.registrations
	h.mu.Unlock()
	for _, r := range registrations {
		r.Remove()
	}
	if first {
		h.factory.release(h.shared)
	}
	for _, r := range registrations {
		if err := waitFor(ctx, r.Done()); err != nil {
			return err
		}
	}
	if h.factory.has(h.shared) {
		return nil // Other users still need the informer.
	}
	return waitFor(ctx, h.shared.ended)
}

// waitFor waits until the channel done is closed or ctx ends.
func waitFor(ctx context.Context, done <-chan struct{}) error {
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

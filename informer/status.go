package informer

import (
	"context"
	"time"

	"github.com/kinform/kinform/deltafifo"
	"github.com/kinform/kinform/indexer"
	"github.com/kinform/kinform/informer/sources"
	"github.com/kinform/kinform/reflector"
)

// Status is the state of an informer and all its stages, each consistent in
// itself, taken one after another.
type Status struct {
	Name      string
	Synced    bool
	Stopped   bool // The context of Run has ended, or the informer has given up.
	Reflector reflector.Status
	Queue     deltafifo.Stats
	Store     indexer.Stats
	Handlers  []HandlerStatus

	// Unreadable are the objects that the store does not have, or has in an older state
	// than the server: those of the reflector, and those that an index function refused.
	// SkipUnreadable says that this was chosen (reflector.Options.SkipUnreadable), so
	// that the informer is synced, and healthy, all the same.
	Unreadable     reflector.Unreadable
	SkipUnreadable bool

	// HookPanics counts the calls of observers, of all stages, and of reflector.Options.OnError
	// that panicked or called runtime.Goexit.
	HookPanics uint64

	// Parts are the parts of a merged source that fail at present; see [sources.MergeWith].
	Parts []sources.PartFailure
}

// HandlerStatus is the state of one handler.
type HandlerStatus struct {
	Name   string
	Synced bool

	// Waiting is how many events lie in the mailbox, Oldest how long the first of
	// them has.
	Waiting int
	Oldest  time.Duration

	// Delivered counts calls that ended, Panics those of them that panicked or called
	// runtime.Goexit, Resyncs those without a change. Coalesced counts events that were merged into others.
	Delivered, Panics, Resyncs, Coalesced uint64
}

// Status returns the state of all stages. It is cheap enough for a metric or a
// page that looks every second.
func (i *Informer[T]) Status() Status {
	i.mu.Lock()
	registrations := i.registrations
	i.mu.Unlock()
	s := Status{
		Name:      i.opts.Name,
		Synced:    isClosed(i.synced),
		Stopped:   isClosed(i.stopped),
		Reflector: i.reflector.Status(),
		Queue:     i.queue.Stats(),
		Store:     i.store.Stats(),

		HookPanics: i.hooks.Panics(),
	}
	s.Unreadable, s.SkipUnreadable = i.unreadable(s.Reflector.Unreadable), i.opts.Reflector.SkipUnreadable
	for _, r := range registrations {
		s.Handlers = append(s.Handlers, r.Status())
	}
	if source, ok := i.source.(interface{ FailingParts() []sources.PartFailure }); ok {
		s.Parts = source.FailingParts()
	}
	return s
}

// Status returns the state of the handler.
func (r *Registration[T]) Status() HandlerStatus {
	depth, oldest, coalesced := r.mailbox.state()
	s := HandlerStatus{
		Name:      r.opts.Name,
		Synced:    isClosed(r.first.done),
		Waiting:   depth,
		Delivered: r.delivered.Load(),
		Panics:    r.panics.Load(),
		Coalesced: coalesced,
		Resyncs:   r.resyncs.Load(),
	}
	if depth > 0 {
		s.Oldest = time.Since(oldest)
	}
	return s
}

// Synced is closed when the first list is in the store. That says nothing about
// handlers: see Registration.Synced.
func (i *Informer[T]) Synced() <-chan struct{} { return i.synced }

// WaitForSync waits until the first list is in the store, with every object in it. The
// error is a [*SyncError], which says what the informer was doing and what went wrong
// last: ctx ended, or the informer stopped before. Where objects cannot be read, or an
// index function refuses them, it unwraps to a reflector.UnreadableError, which names
// them; see reflector.Options.SkipUnreadable. Of what becomes unreadable later, Healthy
// and Status tell.
func (i *Informer[T]) WaitForSync(ctx context.Context) error {
	return i.wait(ctx, "", i.synced, nil)
}

// wait waits for synced, ctx, the end of the informer, or the removal of the
// handler.
func (i *Informer[T]) wait(ctx context.Context, handler string, synced, removed <-chan struct{}) error {
	var reason error
	select {
	case <-synced:
		return nil
	case <-ctx.Done():
		reason = context.Cause(ctx)
	case <-removed:
		reason = ErrRemoved
		if isClosed(i.stopped) {
			reason = ErrStopped
		}
	case <-i.stopped:
		reason = ErrStopped
	}
	if isClosed(synced) {
		return nil
	}
	return &SyncError{Handler: handler, Status: i.Status(), Err: reason}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

package informer

import (
	"context"
	"time"

	"github.com/kinform/kinform/deltafifo"
	"github.com/kinform/kinform/indexer"
	"github.com/kinform/kinform/informer/sources"
	"github.com/kinform/kinform/reflector"
)

// Status is the state of an informer and all its stages. Each stage's state is consistent in
// itself, but the stages are read one after another.
type Status struct {
	Name      string
	Synced    bool
	Stopped   bool // Run's context has ended, or the informer has given up.
	Reflector reflector.Status
	Queue     deltafifo.Stats
	Store     indexer.Stats
	Handlers  []HandlerStatus

	// Undecodable has the objects that are missing from the store, or out of date in it. The
	// reflector cannot decode them, or an index function refuses them. SkipUndecodable says that
	// the program permits this (reflector.Options.SkipUndecodable): the informer is synced and
	// healthy nevertheless.
	Undecodable     reflector.Undecodable
	SkipUndecodable bool

	// HookPanics counts calls of observers (of all stages) and of reflector.Options.OnError that
	// panicked or called runtime.Goexit.
	HookPanics uint64

	// Parts are the parts of a merged source that currently fail; see [sources.MergeWith].
	Parts []sources.PartFailure
}

// HandlerStatus is the state of one handler.
type HandlerStatus struct {
	Name   string
	Synced bool

	// Waiting is the number of events in the mailbox, and Oldest the waiting time of the first
	// event.
	Waiting int
	Oldest  time.Duration

	// Delivered counts calls that ended, and Panics the calls that panicked or called
	// runtime.Goexit. Resyncs counts resync events. Coalesced counts events that were merged into
	// others.
	Delivered, Panics, Resyncs, Coalesced uint64
}

// Status returns the state of all stages. It is cheap enough to be called every second for a metric
// or a page.
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
	s.Undecodable, s.SkipUndecodable = i.allUndecodable(s.Reflector.Undecodable), i.opts.Reflector.SkipUndecodable
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
	depth, oldest, coalesced := r.mailbox.stats()
	s := HandlerStatus{
		Name:      r.opts.Name,
		Synced:    isClosed(r.synced),
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

// Synced is closed when the first list is in the store. It does not cover handlers: see
// Registration.Synced.
func (i *Informer[T]) Synced() <-chan struct{} { return i.synced }

// WaitForSync waits until the first list is completely in the store. The error is a [*SyncError]
// with the informer's state and its last error: ctx ended, or the informer stopped first. If
// objects cannot be decoded, or an index function refuses them, the error unwraps to a
// reflector.UndecodableError that names them; see reflector.Options.SkipUndecodable. Healthy and
// Status report objects that become undecodable later.
func (i *Informer[T]) WaitForSync(ctx context.Context) error {
	return i.wait(ctx, "", i.synced, nil)
}

// wait waits until the channel synced is closed, ctx ends, the informer ends, or the handler is
// removed.
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

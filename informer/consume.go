package informer

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/kinform/kinform/deltafifo"
	"github.com/kinform/kinform/indexer"
	"k8s.io/apimachinery/pkg/types"
)

// consume takes batches from the queue, one after another, until it is closed
// and empty: each goes to the store first, as one transaction, and then to the
// handlers (G3).
//
// It has no context on purpose. The end comes from the reflector, which closes
// the queue when it has stopped, so that what was received is stored.
func (i *Informer[T]) consume() {
	for {
		batch, err := i.queue.Pop(context.Background())
		if err != nil {
			return // deltafifo.ErrClosed: the reflector has ended.
		}
		i.apply(batch)
	}
}

// apply puts one batch into the store and tells the handlers.
func (i *Informer[T]) apply(batch deltafifo.Batch[T]) {
	ops, events := i.resolve(batch)
	failed := i.write(ops, batch.ResourceVersion)
	if len(failed) > 0 {
		kept := events[:0]
		for _, e := range events {
			if !failed[e.Key] {
				kept = append(kept, e)
			}
		}
		events = kept
	}
	if o := i.opts.Observer; o != nil && o.OnApplied != nil {
		keys := make([]types.NamespacedName, len(ops))
		for n, op := range ops {
			keys[n] = op.Key
		}
		o.OnApplied(AppliedInfo{Keys: keys, ResourceVersion: batch.ResourceVersion, Initial: batch.Initial})
	}
	i.tell(events, batch.Initial)
	if batch.Initial {
		close(i.synced)
	}
}

// resolve turns stacks of deltas into what is to be stored, one operation per
// key, and what handlers are to be told, one event per change, by playing each
// stack on what the store has. Nothing but this goroutine writes to the store.
func (i *Informer[T]) resolve(batch deltafifo.Batch[T]) (ops []indexer.Op[T], events []Event[T]) {
	ops = make([]indexer.Op[T], 0, len(batch.Stacks))
	events = make([]Event[T], 0, len(batch.Stacks))
	for _, stack := range batch.Stacks {
		before, stored := i.store.Entry(stack.Key)
		current, exists := before, stored
		for _, delta := range stack.Deltas {
			event, changed := next(current, exists, stack.Key, delta, batch.Initial)
			if !changed {
				continue
			}
			events = append(events, event)
			exists = event.Type != Deleted
			current.Object, current.ResourceVersion = event.New, event.ResourceVersion
		}
		switch {
		case exists && (!stored || current.ResourceVersion != before.ResourceVersion):
			ops = append(ops, indexer.Op[T]{Key: stack.Key, Object: current.Object, ResourceVersion: current.ResourceVersion})
		case !exists && stored:
			ops = append(ops, indexer.Op[T]{Key: stack.Key, ResourceVersion: current.ResourceVersion, Delete: true})
		}
	}
	return ops, events
}

// next is the event that a delta means for a key whose state so far is current,
// or false where it changes nothing.
//
// What was told already is not told again (D11): an object that a relist or a
// repeated watch event brings in the version that is known makes no event, and
// neither does the deletion of what is not there (D16).
func next[T any](current indexer.Entry[T], exists bool, key types.NamespacedName, delta deltafifo.Delta[T], initial bool) (Event[T], bool) {
	event := Event[T]{
		Cause:           Watch,
		Key:             key,
		ResourceVersion: delta.ResourceVersion,
		New:             delta.Object,
	}
	if exists {
		event.Old = current.Object
	}
	switch delta.Type {
	case deltafifo.Deleted:
		event.Type = Deleted
		event.FinalStateUnknown = delta.FinalStateUnknown
		if delta.FinalStateUnknown {
			event.Cause = Relist
			event.New, event.ResourceVersion = current.Object, current.ResourceVersion
		}
		return event, exists
	case deltafifo.Sync:
		event.Type, event.Cause = Updated, Resync
		event.New, event.ResourceVersion = current.Object, current.ResourceVersion
		return event, exists
	case deltafifo.Replaced:
		event.Cause = Relist
		if initial {
			event.Cause = Initial
		}
	}
	if !exists {
		event.Type = Added
		return event, true
	}
	event.Type = Updated
	return event, current.ResourceVersion != delta.ResourceVersion
}

// write applies the operations and returns the keys of those that an index
// function refused. They are not stored, so no handler is told (PD-1).
func (i *Informer[T]) write(ops []indexer.Op[T], resourceVersion string) (failed map[types.NamespacedName]bool) {
	err := i.store.Apply(ops, resourceVersion)
	for _, e := range indexErrors(err) {
		if failed == nil {
			failed = make(map[types.NamespacedName]bool)
		}
		failed[e.Key] = true
		i.opts.Logger.Error("object not stored, as it cannot be indexed", "key", e.Key, "error", e)
	}
	return failed
}

// indexErrors takes joined errors apart.
func indexErrors(err error) (all []*indexer.IndexError) {
	var joined interface{ Unwrap() []error }
	var single *indexer.IndexError
	switch {
	case err == nil:
	case errors.As(err, &single) && !errors.As(err, &joined):
		all = append(all, single)
	case errors.As(err, &joined):
		for _, e := range joined.Unwrap() {
			all = append(all, indexErrors(e)...)
		}
	}
	return all
}

// tell posts the events of a batch that is in the store to the handlers, and
// after the first list the mark that lies behind the initial adds.
func (i *Informer[T]) tell(events []Event[T], initial bool) {
	resynced := slices.ContainsFunc(events, func(e Event[T]) bool { return e.Cause == Resync })
	revision := i.store.Snapshot().Revision()
	i.mu.Lock()
	registrations := i.registrations
	i.initialPosted = i.initialPosted || initial
	var due map[*Registration[T]]bool
	if resynced {
		due = i.resyncDue
		i.resyncDue = make(map[*Registration[T]]bool)
	}
	i.mu.Unlock()

	now := time.Now()
	for _, r := range registrations {
		// A handler that was added after the batch was applied has it in its
		// snapshot (G5).
		inSnapshot := revision <= r.snapshotRevision
		for _, event := range events {
			if event.Cause == Resync && due[r] || event.Cause != Resync && !inSnapshot {
				r.post(letter[T]{event: event, posted: now})
			}
		}
		if initial && !r.snapshotSynced {
			r.post(letter[T]{posted: now, syncMark: true})
		}
	}
}

package informer

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/kinform/kinform/deltafifo"
	"github.com/kinform/kinform/indexer"
	"github.com/kinform/kinform/listwatch"
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

// change is what a batch means for one key: how the store is to be changed, if at
// all, and what handlers are to be told.
type change[T any] struct {
	op     indexer.Op[T]
	stored bool // there is an op
	events []Event[T]
}

// apply puts one batch into the store and tells the handlers.
func (i *Informer[T]) apply(batch deltafifo.Batch[T]) {
	fresh := batch.Initial && i.store.Len() == 0
	// An event that comes alone needs no memory for what is not kept.
	changes := i.resolve(batch, make([]change[T], 0, 1))
	i.begin(batch)
	revision, refused := i.write(changes, batch)
	complete := i.note(changes, refused, batch)
	var deletions []change[T]
	if len(refused) > 0 {
		i.store.WakeUnreadable()
		changes, deletions = i.withoutRefused(changes, refused)
	}
	i.observeApplied(changes, batch)
	if complete {
		close(i.synced)
	}
	i.tell(changes, revision, batch, fresh, complete)
	if len(deletions) > 0 {
		revision, _ = i.write(deletions, deltafifo.Batch[T]{})
		i.observeApplied(deletions, batch)
		i.tell(deletions, revision, deltafifo.Batch[T]{}, false, false)
	}
}

// resolve plays each stack of deltas on what the store has, and appends what that
// means to changes. Nobody but the caller writes to the store.
func (i *Informer[T]) resolve(batch deltafifo.Batch[T], changes []change[T]) []change[T] {
	changes = slices.Grow(changes, len(batch.Stacks))
	events := make([]Event[T], 0, len(batch.Stacks)) // of all changes, one after another
	for _, stack := range batch.Stacks {
		first := len(events)
		before, existed := i.store.Entry(stack.Key)
		var c change[T]
		current, exists := before, existed
		for _, delta := range stack.Deltas {
			if exists && listwatch.OtherUID(current.UIDHash, delta.UIDHash) {
				events = append(events, replaced(current, stack.Key, delta))
				c.stored, exists = true, false
			}
			event, changed := next(current, exists, stack.Key, delta, batch.Initial && !existed && len(events) == first)
			if !changed {
				continue
			}
			events = append(events, event)
			c.stored = c.stored || event.Cause != Resync
			exists = event.Type != Deleted
			current.Object, current.ResourceVersion, current.UIDHash = event.New, event.ResourceVersion, event.UIDHash
		}
		c.events = events[first:]
		c.stored = c.stored && (exists || existed)
		c.op = indexer.Op[T]{Key: stack.Key, Object: current.Object, ResourceVersion: current.ResourceVersion, UIDHash: current.UIDHash, Delete: !exists}
		if len(c.events) > 0 {
			changes = append(changes, c)
		}
	}
	return changes
}

// replaced is the end of an object that nobody saw: delta is about another one, which
// has its name by now (its UID says so).
func replaced[T any](current indexer.Entry[T], key types.NamespacedName, delta deltafifo.Delta[T]) Event[T] {
	gone := Event[T]{
		Type: Deleted, Cause: Watch, Key: key, FinalStateUnknown: true,
		ResourceVersion: current.ResourceVersion, Old: current.Object, New: current.Object, UIDHash: current.UIDHash,
	}
	if delta.Type == deltafifo.Replaced {
		gone.Cause = Relist
	}
	return gone
}

// next is the event that a delta means for a key whose state so far is current,
// or false where it changes nothing. initial says that it would be the first that is
// told of the key, by the first list.
//
// What was told already is not told again (D11): an object that a relist or a
// repeated watch event brings in the version that is known makes no event, and
// neither does the deletion of what is not there (D16). An object without a
// version is always taken for changed, and so is one of a server whose history is
// another one: its version says nothing about what was known.
func next[T any](current indexer.Entry[T], exists bool, key types.NamespacedName, delta deltafifo.Delta[T], initial bool) (Event[T], bool) {
	event := Event[T]{
		Cause:           Watch,
		Key:             key,
		ResourceVersion: delta.ResourceVersion,
		New:             delta.Object,
		UIDHash:         delta.UIDHash,
	}
	if exists {
		event.Old = current.Object
		event.UIDHash = cmp.Or(delta.UIDHash, current.UIDHash)
	}
	switch delta.Type {
	case deltafifo.Deleted:
		event.Type = Deleted
		event.FinalStateUnknown = delta.FinalStateUnknown
		if delta.FinalStateUnknown {
			if delta.ResourceVersion == current.ResourceVersion { // A deletion that was seen has one of its own.
				event.Cause = Relist
			}
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
	event.Type, event.Restored = Updated, delta.Restored
	return event, delta.Restored || delta.ResourceVersion == "" || delta.ResourceVersion != current.ResourceVersion
}

// write puts the changes of a batch into the store as one transaction. It returns
// the revision that has them, and those keys whose object an index function
// refused.
func (i *Informer[T]) write(changes []change[T], batch deltafifo.Batch[T]) (revision uint64, refused map[types.NamespacedName]error) {
	ops := slices.Grow(make([]indexer.Op[T], 0, 1), len(changes))
	for _, c := range changes {
		if c.stored {
			ops = append(ops, c.op)
		}
	}
	var err error
	if batch.Replaced {
		revision, err = i.store.ApplyRelist(ops, batch.ResourceVersion)
	} else {
		revision, err = i.store.Apply(ops, batch.ResourceVersion)
	}
	if failures, ok := errors.AsType[indexer.IndexErrors](err); ok {
		refused = make(map[types.NamespacedName]error, len(failures))
		for _, failure := range failures {
			refused[failure.Key] = failure
		}
		if _, due := i.unindexed.Due(0, time.Now()); due {
			i.opts.Logger.Error("objects not stored, as they cannot be indexed", "informer", i.opts.Name, "objects", len(failures), "key", failures[0].Key, "err", failures[0])
		}
	}
	return revision, refused
}

// withoutRefused takes out the changes that ended in an object which could not be
// stored, as nobody is to be told of it (PD-1). Where the object that was stored
// has been deleted on the way, at least that is to happen.
func (i *Informer[T]) withoutRefused(changes []change[T], refused map[types.NamespacedName]error) (kept, deletions []change[T]) {
	for _, c := range changes {
		if refused[c.op.Key] == nil {
			kept = append(kept, c)
			continue
		}
		for n, event := range slices.Backward(c.events) {
			if event.Type == Deleted {
				c.op = indexer.Op[T]{Key: c.op.Key, Delete: true}
				c.events = c.events[:n+1]
				deletions = append(deletions, c)
				break
			}
		}
	}
	return kept, deletions
}

func (i *Informer[T]) observeApplied(changes []change[T], batch deltafifo.Batch[T]) {
	if i.opts.Observer == nil || i.opts.Observer.OnApplied == nil {
		return
	}
	info := AppliedInfo{ResourceVersion: batch.ResourceVersion, Initial: batch.Initial}
	for _, c := range changes {
		if c.stored {
			info.Keys = append(info.Keys, c.op.Key)
		}
	}
	i.opts.Observer.OnApplied(info)
}

// tell posts what has changed with a revision of the store to the handlers. The
// first list, fresh, is posted as a snapshot: that costs next to nothing, and the
// objects are in memory anyway. With complete changes, the store has all of the first
// list.
func (i *Informer[T]) tell(changes []change[T], revision uint64, batch deltafifo.Batch[T], fresh, complete bool) {
	var events, resyncs []Event[T]
	for _, c := range changes {
		switch {
		case c.events[0].Cause == Resync:
			resyncs = append(resyncs, c.events...)
		case fresh:
		case len(changes) == 1:
			events = c.events
		default:
			if events == nil {
				events = make([]Event[T], 0, len(changes))
			}
			events = append(events, c.events...)
		}
	}
	i.mu.Lock()
	registrations := i.registrations
	i.populated = i.populated || complete
	due := i.resyncDue
	if batch.Resynced {
		i.resyncDue = make(map[*Registration[T]]bool)
	}
	i.mu.Unlock()

	now := time.Now()
	for _, r := range registrations {
		switch {
		case revision <= r.told: // It was added meanwhile, and has the changes in its snapshot (G5).
		case fresh:
			r.mailbox.postSnapshot(i.store.Snapshot(), complete)
		default:
			r.post(events, now)
		}
		if complete && !r.whole && (!fresh || revision <= r.told) {
			r.mailbox.postSnapshot(nil, true)
		}
		if batch.Resynced && due[r] {
			r.post(resyncs, now)
		}
		if r.awaits.Load() {
			r.mailbox.postVersion(i.store.ResourceVersion())
		}
	}
}

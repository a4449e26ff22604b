package informer

import (
	"context"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kinform/kinform/indexer"
)

// Registration is one handler of an informer: the means to wait for it, look at
// it, and remove it.
type Registration[T any] struct {
	informer *Informer[T]
	handle   func(Event[T])
	opts     HandlerOptions
	mailbox  *mailbox[T]

	// snapshot is what was stored when the handler was added, at which revision;
	// snapshotSynced says that this included the first list.
	snapshot         *indexer.Snapshot[T]
	snapshotRevision uint64
	snapshotSynced   bool

	synced   chan struct{}
	removed  chan struct{}
	done     chan struct{}
	stopOnce sync.Once

	delivered atomic.Uint64
	panics    atomic.Uint64
	// slow makes sure that a handler is called slow in the log only once.
	slow atomic.Bool
}

func newRegistration[T any](i *Informer[T], handle func(Event[T]), opts HandlerOptions) *Registration[T] {
	return &Registration[T]{
		informer: i,
		handle:   handle,
		opts:     opts,
		mailbox:  newMailbox[T](opts.Mailbox, opts.Overflow),
		synced:   make(chan struct{}),
		removed:  make(chan struct{}),
		done:     make(chan struct{}),
	}
}

// Synced is closed when the handler has returned from every initial add (G6).
func (r *Registration[T]) Synced() <-chan struct{} { return r.synced }

// WaitForSync waits until the handler has returned from every initial add (G6).
// The error is a [*SyncError]: ctx ended, or the informer stopped or the handler
// was removed before.
func (r *Registration[T]) WaitForSync(ctx context.Context) error {
	return r.informer.wait(ctx, r.synced, r.removed)
}

// Remove ends the handler: once Remove has returned, no further call begins. It
// doesn't wait for a call in progress, so that a handler may remove itself; Done
// tells when that has ended. Events that wait are dropped. To remove twice, or
// after the informer stopped, is harmless.
func (r *Registration[T]) Remove() {
	r.informer.remove(r)
	r.stop()
}

// Done is closed when the handler was removed, or the informer stopped, and no
// call of the handler is in progress.
func (r *Registration[T]) Done() <-chan struct{} { return r.done }

// stop lets the handler's goroutine end.
func (r *Registration[T]) stop() {
	r.stopOnce.Do(func() {
		close(r.removed)
		r.mailbox.close()
	})
}

// run calls the handler until the registration is stopped.
func (r *Registration[T]) run() {
	defer close(r.done)
	var resync <-chan time.Time
	if r.opts.Resync > 0 {
		ticker := time.NewTicker(r.opts.Resync)
		defer ticker.Stop()
		resync = ticker.C
	}
	r.deliverSnapshot()
	for {
		select {
		case <-r.removed:
			return
		case <-resync:
			r.informer.resync(r)
		case <-r.mailbox.wake:
			r.deliverMail()
		}
	}
}

// post puts a letter into the mailbox, and says in the log when the handler is
// slow for the first time.
func (r *Registration[T]) post(l letter[T]) {
	depth := r.mailbox.post(l)
	if depth >= r.opts.Mailbox && r.slow.CompareAndSwap(false, true) {
		r.informer.opts.Logger.Warn("handler is slow: its mailbox is full",
			"handler", r.opts.Name, "waiting", depth, "overflow", r.opts.Overflow)
	}
}

func (r *Registration[T]) deliverSnapshot() {
	for entry := range r.snapshot.Entries() {
		if r.isRemoved() {
			return
		}
		r.deliver(letter[T]{event: Event[T]{
			Type:            Added,
			Cause:           Initial,
			Key:             entry.Key,
			ResourceVersion: entry.ResourceVersion,
			New:             entry.Object,
		}})
	}
	r.snapshot = nil // The objects in it may be collected from now on.
	if r.snapshotSynced {
		close(r.synced)
	}
}

func (r *Registration[T]) deliverMail() {
	for !r.isRemoved() {
		l, ok := r.mailbox.take()
		switch {
		case !ok:
			return
		case l.syncMark:
			close(r.synced)
		default:
			r.deliver(l)
		}
	}
}

func (r *Registration[T]) isRemoved() bool {
	select {
	case <-r.removed:
		return true
	default:
		return false
	}
}

// deliver calls the handler with one event.
func (r *Registration[T]) deliver(l letter[T]) {
	observed := r.informer.opts.Observer != nil && r.informer.opts.Observer.OnDeliver != nil
	var began time.Time
	if observed {
		began = time.Now()
	}
	r.call(l.event)
	r.delivered.Add(1)
	if observed {
		info := DeliverInfo{
			Handler:         r.opts.Name,
			Type:            l.event.Type,
			Cause:           l.event.Cause,
			Key:             l.event.Key,
			ResourceVersion: l.event.ResourceVersion,
			Ran:             time.Since(began),
		}
		if !l.posted.IsZero() {
			info.Waited = began.Sub(l.posted)
		}
		r.informer.opts.Observer.OnDeliver(info)
	}
}

// call contains a handler's panic: one bad event must not end the process, nor
// keep the handler from ever being synced.
func (r *Registration[T]) call(event Event[T]) {
	defer func() {
		if p := recover(); p != nil {
			r.panics.Add(1)
			r.informer.opts.Logger.Error("handler panicked; the event counts as handled",
				"handler", r.opts.Name, "key", event.Key, "type", event.Type, "panic", p, "stack", string(debug.Stack()))
		}
	}()
	r.handle(event)
}

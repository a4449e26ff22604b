package informer

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/indexer"
	"github.com/kinform/kinform/internal/logthrottle"
)

// Registration represents one handler of an informer: use it to wait for, inspect and remove the
// handler.
type Registration[T any] struct {
	informer *Informer[T]
	handle   func(Event[T])
	opts     HandlerOptions
	mailbox  *mailbox[T]
	// startRevision is the store revision at which the handler begins. A snapshot in its mailbox
	// has every change up to that revision, and the informer posts later changes (G5).
	startRevision uint64

	synced   chan struct{} // closed when the handler has returned from every initial add
	removed  chan struct{}
	done     chan struct{}
	stopOnce sync.Once

	// The following fields belong to the handler's goroutine. If the handler ends that goroutine,
	// they belong to its replacement.
	partial *partialSnapshot[T] // nil unless the objects of a snapshot are being delivered
	ended   bool                // run has returned

	delivered atomic.Uint64
	resyncs   atomic.Uint64
	panics    atomic.Uint64
	panicLog  logthrottle.Throttle // of the goroutine that calls the handler
	lag       lag
}

func newRegistration[T any](i *Informer[T], handle func(Event[T]), opts HandlerOptions) *Registration[T] {
	r := &Registration[T]{
		informer: i,
		handle:   handle,
		opts:     opts,
		synced:   make(chan struct{}),
		removed:  make(chan struct{}),
		done:     make(chan struct{}),
	}
	r.mailbox = newMailbox[T](opts.Mailbox, opts.Overflow, i.gate.close, r.checkWaiting)
	return r
}

// Synced is closed when the handler has returned from every initial add (G6).
func (r *Registration[T]) Synced() <-chan struct{} { return r.synced }

// WaitForSync waits until the handler has returned from every initial add (G6). The error is a
// [*SyncError]: ctx ended, the handler was removed first (ErrRemoved), or the informer stopped
// (ErrStopped).
func (r *Registration[T]) WaitForSync(ctx context.Context) error {
	return r.informer.wait(ctx, r.opts.Name, r.synced, r.removed)
}

// Resync requests an Updated event with cause Resync for every stored object now, in addition to
// the periodic ones of HandlerOptions.Resync. Other handlers receive nothing, and the server gets
// no request. Resync returns at once. Any goroutine may call it, also the handler's. It does
// nothing before the first list is stored, and after Remove.
func (r *Registration[T]) Resync() { r.informer.resync(r) }

// Remove ends the handler. At most one more call, which was about to begin, may begin after Remove
// has returned. Remove does not wait for a call in progress, so a handler may remove itself. Wait
// for Done before releasing resources that the handler uses. Waiting events are dropped. A second
// call, or a call after the informer stopped, does nothing.
func (r *Registration[T]) Remove() { r.informer.remove(r) }

// Done is closed when the handler was removed or the informer stopped, and no call of the handler
// is in progress or will begin.
func (r *Registration[T]) Done() <-chan struct{} { return r.done }

// stop makes the handler's goroutine end.
func (r *Registration[T]) stop() {
	r.stopOnce.Do(func() {
		// The mailbox is closed before the removed channel: a handler that skips the rest of a
		// snapshot must not find later events. The goroutine checks the channel when it wakes.
		r.mailbox.close()
		close(r.removed)
		signal(r.mailbox.wake)
	})
}

// run calls the handler until the registration is stopped. If the handler ends the goroutine, run
// is called again in a new one, and continues where it stopped.
func (r *Registration[T]) run() {
	defer signal(r.mailbox.wake) // The replacement of this goroutine waits for it.
	r.resume()
	r.deliverUntilStopped()
	if r.partial != nil {
		r.partial.release()
		r.partial = nil
	}
	r.ended = true
	close(r.done)
}

// deliverUntilStopped calls the handler until the registration is stopped.
func (r *Registration[T]) deliverUntilStopped() {
	var resync <-chan time.Time
	if r.opts.Resync > 0 {
		ticker := time.NewTicker(r.opts.Resync)
		defer ticker.Stop()
		resync = ticker.C
	}
	for !isClosed(r.removed) {
		if resync == nil {
			<-r.mailbox.wake // Waiting for one channel is much cheaper than for two.
		} else {
			select {
			case <-resync:
				r.informer.resync(r)
			case <-r.mailbox.wake:
			}
		}
		r.drainMailbox(resync)
	}
}

// drainMailbox delivers items until the mailbox is empty. The method stop empties the mailbox as
// well. drainMailbox checks for a due resync before each item, because a slow handler's mailbox may
// never be empty.
func (r *Registration[T]) drainMailbox(resync <-chan time.Time) {
	for {
		select {
		case <-resync:
			r.informer.resync(r)
		default:
		}
		item, ok := r.mailbox.take()
		if r.lag.behind.Load() {
			if !ok {
				r.lag.logIfCaughtUp(r.informer.opts.Logger, r.informer.opts.Name, r.opts.Name)
			} else {
				r.checkLag(item.posted)
			}
		}
		switch {
		case !ok:
			return
		case len(item.events) > 0:
			r.deliver(item.events[0], item.posted)
		default:
			r.deliverSnapshot(item)
		}
	}
}

// deliverSnapshot delivers the objects of an item's snapshot, if any, and then handles its sync
// point.
func (r *Registration[T]) deliverSnapshot(item mailItem[T]) {
	if item.snapshot != nil {
		r.partial = &partialSnapshot[T]{item: item}
		for entry := range item.snapshot.Entries() {
			if isClosed(r.removed) {
				return
			}
			r.partial.delivered++
			r.deliver(initial(entry), item.posted)
		}
	}
	r.finishSnapshot(item)
}

// finishSnapshot handles an item's sync point after its objects are delivered.
func (r *Registration[T]) finishSnapshot(item mailItem[T]) {
	if r.partial != nil {
		r.partial.release()
		r.partial = nil
	}
	if item.isSyncPoint && !isClosed(r.synced) {
		close(r.synced)
	}
}

// partialSnapshot is a mail item with a snapshot whose delivery is in progress. If the handler ends
// the goroutine, its replacement continues with the next object.
type partialSnapshot[T any] struct {
	item      mailItem[T]
	delivered int                // number of objects delivered
	rest      []indexer.Entry[T] // the objects left; nil until the goroutine has ended
}

func (c *partialSnapshot[T]) release() { c.item.snapshot.Release() }

// resume continues where the previous goroutine stopped.
func (r *Registration[T]) resume() {
	if c := r.partial; c != nil {
		if c.rest == nil {
			c.rest = make([]indexer.Entry[T], 0, max(c.item.snapshot.Len()-c.delivered, 0))
			n := 0
			for entry := range c.item.snapshot.Entries() {
				if n++; n > c.delivered {
					c.rest = append(c.rest, entry)
				}
			}
		}
		for len(c.rest) > 0 {
			if isClosed(r.removed) {
				return
			}
			entry := c.rest[0]
			c.rest = c.rest[1:]
			r.deliver(initial(entry), c.item.posted)
		}
		r.finishSnapshot(c.item)
	}
}

// initial returns the event for an object that was stored before its handler was added.
func initial[T any](entry indexer.Entry[T]) Event[T] {
	return Event[T]{
		Type:            Added,
		Cause:           Initial,
		Key:             entry.Key,
		ResourceVersion: entry.ResourceVersion,
		New:             entry.Object,
		UIDHash:         entry.UIDHash,
	}
}

// deliver calls the handler with one event.
func (r *Registration[T]) deliver(event Event[T], posted time.Time) {
	observer, sampled := r.informer.opts.Observer, false
	if observer == nil {
		r.call(event)
		return
	}
	defer func() {
		if !sampled { // Sample ended the goroutine.
			r.call(event)
		}
	}()
	var all, sample func(DeliverInfo)
	r.informer.hooks.Call("Observer.Sample", func() { all, sample = observer.deliverHooks(event.Key) })
	sampled = true
	if all == nil && sample == nil {
		r.call(event)
		return
	}
	began := time.Now()
	r.call(event)
	info := DeliverInfo{
		Handler:         r.opts.Name,
		Type:            event.Type,
		Cause:           event.Cause,
		Key:             event.Key,
		ResourceVersion: event.ResourceVersion,
		Waited:          began.Sub(posted),
		Ran:             time.Since(began),
	}
	r.informer.hooks.Call("Observer", func() {
		if sample != nil {
			sample(info)
		}
	})
	r.informer.hooks.Call("Observer.OnDeliver", func() {
		if all != nil {
			all(info)
		}
	})
}

// call calls the handler with an event. It contains a panic, and counts the call when it ends. A
// single event that makes the handler panic must neither end the process nor prevent the handler's
// sync.
func (r *Registration[T]) call(event Event[T]) {
	returned := false
	defer func() {
		if !returned {
			r.recordPanic(recover(), event.Key, event.Type)
		}
		if event.Cause == Resync {
			r.resyncs.Add(1)
		}
		r.delivered.Add(1)
	}()
	r.handle(event)
	returned = true
}

// recordPanic counts a panic, or a Goexit if value is nil. It logs the first one, and then one
// every few minutes: each line has a stack, and a handler may panic for every object.
func (r *Registration[T]) recordPanic(value any, key types.NamespacedName, event EventType) {
	total := r.panics.Add(1)
	message := "handler panicked; the event counts as handled"
	if value == nil {
		message = "handler ended its goroutine by runtime.Goexit; the event counts as handled, and another goroutine continues"
	}
	if _, due := r.panicLog.Due(0, time.Now()); due {
		r.informer.opts.Logger.Error(message, "informer", r.informer.opts.Name, "handler", r.opts.Name,
			"key", key, "type", event, "panic", fmt.Sprint(value), "panics", total, "stack", string(debug.Stack()))
	}
}

// post appends events to the mailbox, and logs when the handler is slow.
func (r *Registration[T]) post(events []Event[T], now time.Time) {
	if len(events) == 0 {
		return
	}
	if depth := r.mailbox.post(events, now); depth >= r.opts.Mailbox {
		r.lag.behind.Store(true)
	}
	if r.lag.behind.Load() {
		r.checkWaiting()
	}
}

// checkWaiting logs that the handler is slow, if events have waited for long.
func (r *Registration[T]) checkWaiting() {
	r.lag.behind.Store(true)
	if depth, oldest, _ := r.mailbox.stats(); depth > 0 {
		r.checkLag(oldest)
	}
}

// checkLag logs that the handler is slow, if an event with this posting time has waited for long.
func (r *Registration[T]) checkLag(posted time.Time) {
	if waited := time.Since(posted); waited >= slowAfter {
		depth, _, _ := r.mailbox.stats()
		r.lag.logIfSlow(r.informer.opts.Logger, r.informer.opts.Name, r.opts.Name, r.opts.Overflow, waited, depth)
	}
}

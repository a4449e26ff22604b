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
	"github.com/kinform/kinform/internal/remind"
)

// Registration is one handler of an informer: the means to wait for it, look at
// it, and remove it.
type Registration[T any] struct {
	informer *Informer[T]
	handle   func(Event[T])
	opts     HandlerOptions
	// catchUp, if there is one, has more events for the handler after the initial adds.
	catchUp catchUp[T]
	mailbox *mailbox[T]
	first   firstSync

	removed  chan struct{}
	done     chan struct{}
	stopOnce sync.Once

	// The following fields belong to the handler's goroutine. If the handler ends it, they belong to
	// the next one.
	cut    *cutShort[T] // nil unless the objects of a snapshot are being told
	asking bool         // catchUp is being asked
	ended  bool         // run has returned

	delivered atomic.Uint64
	resyncs   atomic.Uint64
	panics    atomic.Uint64
	panicking remind.Reminder // of the goroutine that calls the handler
	lag       lag
}

func newRegistration[T any](i *Informer[T], handle func(Event[T]), opts HandlerOptions) *Registration[T] {
	r := &Registration[T]{
		informer: i,
		handle:   handle,
		opts:     opts,
		removed:  make(chan struct{}),
		done:     make(chan struct{}),
	}
	r.mailbox = newMailbox[T](opts.Mailbox, opts.Overflow, i.gate.close, r.checkWaiting)
	r.first.done, r.first.wake = make(chan struct{}), r.mailbox.wake
	return r
}

// Synced is closed when the handler has returned from every initial add (G6).
func (r *Registration[T]) Synced() <-chan struct{} { return r.first.done }

// WaitForSync waits until the handler has returned from every initial add (G6).
// The error is a [*SyncError]: ctx ended, the handler was removed before
// (ErrRemoved), or the informer stopped (ErrStopped).
func (r *Registration[T]) WaitForSync(ctx context.Context) error {
	return r.informer.wait(ctx, r.opts.Name, r.first.done, r.removed)
}

// Resync asks for an Updated event with cause Resync for every stored object, now, in addition to those of
// HandlerOptions.Resync. Other handlers hear nothing, and no request is made. It returns at once, and may be called by
// any goroutine, the handler's own included. It does nothing before the first list is stored, and after Remove.
func (r *Registration[T]) Resync() { r.informer.resync(r) }

// Remove ends the handler: no call begins after Remove has returned, but for one
// that was about to. It doesn't wait for a call in progress, so that a handler may
// remove itself; wait for Done before releasing what the handler uses. Events that
// wait are dropped. To remove twice, or after the informer stopped, is harmless.
func (r *Registration[T]) Remove() { r.informer.remove(r) }

// Done is closed when the handler was removed, or the informer stopped, and no
// call of the handler is in progress or will be.
func (r *Registration[T]) Done() <-chan struct{} { return r.done }

// stop lets the handler's goroutine end.
func (r *Registration[T]) stop() {
	r.stopOnce.Do(func() {
		// The mailbox first: a handler that skips the rest of a snapshot must not
		// find what came after it. The goroutine looks whether it is removed when it
		// is woken.
		r.mailbox.close()
		close(r.removed)
		signal(r.mailbox.wake)
	})
}

// run calls the handler until the registration is stopped. If the handler ends the goroutine, run is
// called again, in another one, and begins with what it was about to do.
func (r *Registration[T]) run() {
	defer signal(r.mailbox.wake) // For the next one, which would wait for it.
	r.resume()
	r.work()
	if r.cut != nil {
		r.cut.release()
		r.cut = nil
	}
	r.first.stop()
	r.ended = true
	close(r.done)
}

// work calls the handler until the registration is stopped.
func (r *Registration[T]) work() {
	var resync <-chan time.Time
	if r.opts.Resync > 0 {
		ticker := time.NewTicker(r.opts.Resync)
		defer ticker.Stop()
		resync = ticker.C
	}
	for !isClosed(r.removed) {
		if resync == nil {
			<-r.mailbox.wake // To wait for one channel takes much less than for two.
		} else {
			select {
			case <-resync:
				r.informer.resync(r)
			case <-r.mailbox.wake:
			}
		}
		r.deliverMail(resync)
	}
}

// deliverMail empties the mailbox, which stop does as well. A handler that is
// always behind is resynced all the same.
func (r *Registration[T]) deliverMail(resync <-chan time.Time) {
	for {
		select {
		case <-resync:
			r.informer.resync(r)
		default:
		}
		l, ok := r.mailbox.take()
		if r.lag.behind.Load() {
			if !ok {
				r.lag.sayIfOver(r.informer.opts.Logger, r.informer.opts.Name, r.opts.Name)
			} else {
				r.checkLag(l.posted)
			}
		}
		switch {
		case !ok:
			if r.first.overdue() {
				r.askCatchUp(time.Now())
			}
			return
		case len(l.events) > 0:
			r.deliver(l.events[0], l.posted)
		default:
			r.deliverFirst(l)
		}
	}
}

// deliverFirst tells the handler of the objects of a snapshot, and then takes note of a mark.
func (r *Registration[T]) deliverFirst(l letter[T]) {
	if l.snapshot != nil {
		r.cut = &cutShort[T]{letter: l}
		for entry := range l.snapshot.Entries() {
			if isClosed(r.removed) {
				return
			}
			r.cut.told++
			r.deliver(initial(entry), l.posted)
		}
	}
	r.finishFirst(l)
}

// finishFirst takes note of the mark of a letter whose objects are told.
func (r *Registration[T]) finishFirst(l letter[T]) {
	if r.cut != nil {
		r.cut.release()
		r.cut = nil
	}
	if l.mark && r.first.marked(l.version) {
		r.askCatchUp(l.posted)
	}
}

// cutShort is a letter with a snapshot whose objects are being told. If the handler ends the goroutine,
// the next one goes on with the object after that.
type cutShort[T any] struct {
	letter letter[T]
	told   int                // how many objects the handler was called with
	rest   []indexer.Entry[T] // the others; nil until the goroutine has ended
}

func (c *cutShort[T]) release() { c.letter.snapshot.Release() }

// resume goes on with what the goroutine before this one was about to do.
func (r *Registration[T]) resume() {
	if c := r.cut; c != nil {
		if c.rest == nil {
			c.rest = make([]indexer.Entry[T], 0, max(c.letter.snapshot.Len()-c.told, 0))
			n := 0
			for entry := range c.letter.snapshot.Entries() {
				if n++; n > c.told {
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
			r.deliver(initial(entry), c.letter.posted)
		}
		r.finishFirst(c.letter)
	}
	if r.asking {
		r.askCatchUp(time.Now())
	}
}

// initial is the event of an object that was stored before its handler was added.
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

// catchUp yields the events that a handler is told beside those of its informer, which has told
// of everything through a version. It answers with the state that the handler's first sync is in
// now: catchingUp, synced or finished. Unless that is finished, catchUp is asked again.
type catchUp[T any] func(version string, yield func(Event[T]) bool) syncState

// askCatchUp tells the handler what catchUp has now.
func (r *Registration[T]) askCatchUp(posted time.Time) {
	r.asking = true
	answer := r.catchUp(r.first.version, func(event Event[T]) bool {
		if !isClosed(r.removed) {
			r.deliver(event, posted)
		}
		return !isClosed(r.removed)
	})
	r.asking = false
	r.first.answered(answer)
}

// deliver calls the handler with one event.
func (r *Registration[T]) deliver(event Event[T], posted time.Time) {
	observer, asked := r.informer.opts.Observer, false
	if observer == nil {
		r.call(event)
		return
	}
	defer func() {
		if !asked { // Sample ended the goroutine.
			r.call(event)
		}
	}()
	var all, sample func(DeliverInfo)
	r.informer.hooks.Call("Observer.Sample", func() { all, sample = observer.hearers(event.Key) })
	asked = true
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

// call counts a call of the handler when it has returned, and contains its panic: one bad
// event must not end the process, nor keep the handler from ever being synced.
func (r *Registration[T]) call(event Event[T]) {
	returned := false
	defer func() {
		if !returned {
			r.panicked(recover(), event.Key, event.Type)
		}
		if event.Cause == Resync {
			r.resyncs.Add(1)
		}
		r.delivered.Add(1)
	}()
	r.handle(event)
	returned = true
}

// panicked counts a panic, or a Goexit if value is nil, and logs the first, and one every few minutes of
// those that follow: each has a stack, and a handler that panics may do so for every object.
func (r *Registration[T]) panicked(value any, key types.NamespacedName, event EventType) {
	total := r.panics.Add(1)
	message := "handler panicked; the event counts as handled"
	if value == nil {
		message = "handler ended its goroutine, by runtime.Goexit; the event counts as handled, and another goroutine goes on"
	}
	if _, due := r.panicking.Due(0, time.Now()); due {
		r.informer.opts.Logger.Error(message, "informer", r.informer.opts.Name, "handler", r.opts.Name,
			"key", key, "type", event, "panic", fmt.Sprint(value), "panics", total, "stack", string(debug.Stack()))
	}
}

// post puts events into the mailbox, and says in the log when the handler is slow.
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

// checkWaiting says that the handler is slow, if what waits has done so for long.
func (r *Registration[T]) checkWaiting() {
	r.lag.behind.Store(true)
	if depth, oldest, _ := r.mailbox.state(); depth > 0 {
		r.checkLag(oldest)
	}
}

// checkLag says that the handler is slow, if an event that was posted then has waited
// for long.
func (r *Registration[T]) checkLag(posted time.Time) {
	if waited := time.Since(posted); waited >= slowAfter {
		depth, _, _ := r.mailbox.state()
		r.lag.sayIfSlow(r.informer.opts.Logger, r.informer.opts.Name, r.opts.Name, r.opts.Overflow, waited, depth)
	}
}

// The handlers. Several parties want to hear of changes, and each takes as long as it likes. Were they called
// one after another by who applies the deltas, the slowest would hold up all others and the watch itself. So
// each handler has a goroutine that calls it, and a queue of what it has yet to be told: a ring, whose memory
// is used again and again, and which doubles when it is full.

package plain

import (
	"log/slog"
	"runtime/debug"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Event is what a handler is told. Type is Added, Updated or Deleted.
type Event[T metav1.Object] struct {
	Type DeltaType

	// Old is what the handler knew: nil for Added, and New itself in a resync.
	Old T

	// New is the object as it is now, or the last state that is known of one that was deleted.
	New T

	// Initial says that the object was there before the informer or the handler.
	Initial bool

	// FinalStateUnknown marks a tombstone: the object is gone, and New may be older than its end.
	FinalStateUnknown bool
}

// Handler calls a function for each event, one call after another.
type Handler[T metav1.Object] struct {
	handle func(Event[T])
	listed func() bool // every initial event has been told

	mu      sync.Mutex // guards following
	changed *sync.Cond // there is an event, or the handler has stopped
	events  ring[Event[T]]
	initial int // initial events whose call has not returned
	stopped bool
}

func newHandler[T metav1.Object](handle func(Event[T]), listed func() bool) *Handler[T] {
	h := &Handler[T]{handle: handle, listed: listed}
	h.changed = sync.NewCond(&h.mu)
	return h
}

// tell leaves an event for the handler. It never waits.
func (h *Handler[T]) tell(event Event[T]) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stopped {
		return
	}
	if event.Initial {
		h.initial++
	}
	h.events.push(event)
	h.changed.Signal()
}

// run calls the function until the handler is stopped.
func (h *Handler[T]) run() {
	for {
		event, ok := h.next()
		if !ok {
			return
		}
		h.call(event)
		if event.Initial {
			h.mu.Lock()
			h.initial--
			h.mu.Unlock()
		}
	}
}

func (h *Handler[T]) next() (event Event[T], ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for h.events.len == 0 && !h.stopped {
		h.changed.Wait()
	}
	if h.stopped {
		return event, false
	}
	return h.events.pop(), true
}

// call calls the function. A panic costs one event, not the program.
func (h *Handler[T]) call(event Event[T]) {
	defer func() {
		if r := recover(); r != nil {
			slog.Error("a handler panicked", "key", KeyOf(event.New), "panic", r, "stack", string(debug.Stack()))
		}
	}()
	h.handle(event)
}

// Synced says that the function has returned from every initial event. That the store is complete does not
// say so: a controller that begins when the store is full, but before its handler has seen it all, takes what
// it has not seen yet for deleted.
func (h *Handler[T]) Synced() bool {
	if !h.listed() {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.initial == 0
}

// Remove ends the handler, without waiting for a call in progress.
func (h *Handler[T]) Remove() { h.stop() }

func (h *Handler[T]) hasStopped() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.stopped
}

func (h *Handler[T]) stop() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stopped = true
	h.changed.Signal()
}

// ring is a queue in a slice whose end is joined to its beginning.
type ring[E any] struct {
	slots []E
	first int
	len   int
}

func (r *ring[E]) push(e E) {
	if r.len == len(r.slots) {
		larger := make([]E, max(16, 2*r.len))
		n := copy(larger, r.slots[r.first:])
		copy(larger[n:], r.slots[:r.first])
		r.slots, r.first = larger, 0
	}
	r.slots[(r.first+r.len)%len(r.slots)] = e
	r.len++
}

func (r *ring[E]) pop() (e E) {
	e, r.slots[r.first] = r.slots[r.first], e // An empty slot holds on to nothing.
	r.first = (r.first + 1) % len(r.slots)
	r.len--
	return e
}

// What package informer does beyond these two files:
//
//   - A handler that is slow costs bounded memory: beyond 1,024 events, what waits for it is merged by key.
//     Here, its ring grows until the program ends.
//   - An object that was deleted and created again while nobody watched is told as deleted and added, as
//     their UIDs differ.
//   - Each handler may have a resync of its own, and may be told why each event happened.
//   - What is not stored (an index function failed, an object could not be read) is a state that one can see
//     and wait for.
//   - Events reach handlers in batches, so a burst wakes each of them once.
//   - Synced is a channel, not a question that one repeats; informers are shared by a factory, merged from
//     several sources, started from a file.

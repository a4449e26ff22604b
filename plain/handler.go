// The handlers. Several parts of a program need to process changes, and each may be slow. If the
// informer called their handlers one after another, the slowest would delay all others and the
// watch itself. So each handler has a goroutine that calls it, and a queue of the events that it
// has not processed yet. The queue is a ring: a slice whose memory is reused, and which doubles
// when it is full.

package plain

import (
	"log/slog"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Event is the argument of a handler. Type is Added, Updated or Deleted.
type Event[T metav1.Object] struct {
	Type DeltaType

	// Old is the previous state that the handler got. It is nil for Added, and equals New in a
	// resync.
	Old T

	// New is the object as it is now, or the last known state of a deleted object.
	New T

	// Initial is true if the object existed before the informer started or the handler was added.
	Initial bool

	// FinalStateUnknown marks a tombstone: the object was deleted, and New may not be its final
	// state.
	FinalStateUnknown bool
}

// Handler calls a function for each event, one call after another.
type Handler[T metav1.Object] struct {
	handle func(Event[T])
	listed func() bool // reports whether the informer has delivered the whole first list

	mu      sync.Mutex // guards following
	changed *sync.Cond // signals that there is an event, or that the handler was removed
	events  ring[Event[T]]
	initial int // initial events whose call has not returned
	removed bool
}

func newHandler[T metav1.Object](handle func(Event[T]), listed func() bool) *Handler[T] {
	h := &Handler[T]{handle: handle, listed: listed}
	h.changed = sync.NewCond(&h.mu)
	return h
}

// post queues an event for the handler, and never waits. It returns false if the handler was
// removed.
func (h *Handler[T]) post(event Event[T]) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if event.Initial {
		h.initial++
	}
	h.events.push(event)
	h.changed.Signal()
	return !h.removed
}

// run calls the function until the handler is removed. It holds no lock during a call.
func (h *Handler[T]) run() {
	h.mu.Lock()
	for {
		for h.events.len == 0 && !h.removed {
			h.changed.Wait()
		}
		if h.removed {
			break
		}
		event := h.events.pop()
		h.mu.Unlock()
		if err := recoverPanic(func() error { h.handle(event); return nil }); err != nil {
			// a panic loses one event, and does not end the program
			slog.Error("a handler panicked", "key", KeyOf(event.New), "err", err)
		}
		h.mu.Lock()
		if event.Initial {
			h.initial--
		}
	}
	h.mu.Unlock()
}

// Synced reports whether the function has returned from every initial event. A complete store is
// not enough: a controller that starts when its handler has received half of the store would treat
// the other half as deleted.
func (h *Handler[T]) Synced() bool {
	if !h.listed() {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.initial == 0
}

// Remove removes the handler. It drops the waiting events, and does not wait for a call in
// progress.
func (h *Handler[T]) Remove() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.removed = true
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
	e, r.slots[r.first] = r.slots[r.first], e // so that an empty slot references nothing
	r.first = (r.first + 1) % len(r.slots)
	r.len--
	return e
}

// Package informer does more than this file, for these reasons:
//
//   - A slow handler costs bounded memory: beyond 1,024 events, the informer merges its waiting
//     events by key. Here, the ring grows until the program ends.
//   - Each handler may have its own resync, because only some of them need one.
//   - A handler gets the cause of each event: the first list, a watch, a relist or a resync.
//   - Synced is a channel, so that no program has to poll it.

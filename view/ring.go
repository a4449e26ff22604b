package view

import (
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// noted is one event of a sample, as the recorder stores it.
type noted struct {
	what    string // one of the values of Event.What
	of      string // name of the handler
	kind    string // ADDED, Updated and so on
	cause   string
	key     types.NamespacedName
	name    string // text of a key that does not name an object
	version string
	at      time.Time
	waited  time.Duration
	ran     time.Duration
	count   int
	text    string
}

// ring keeps the newest events of a sample. Each reader reads at its own pace, and misses
// overwritten events.
type ring struct {
	start time.Time // of the view
	room  room      // for events of single keys
	steps room      // for events of whole batches

	mu   sync.Mutex // guards following
	past []noted    // allocated with ringSize elements at the first event
	next uint64     // total number of events
}

// ringSize is the number of events in a ring. Between two frames, a ring accepts at most perTick
// events of keys and stepsPerTick events of batches. More events would not be visible on the page,
// and would cost too much.
const (
	ringSize     = 512
	perTick      = 96
	stepsPerTick = 32
)

// room counts the events that the ring still accepts until the next frame. If there is no room
// left, an event costs neither a lock nor a clock read.
type room struct {
	left atomic.Int64
	lost atomic.Uint64
}

func (r *room) take() bool {
	if r.left.Load() > 0 && r.left.Add(-1) >= 0 {
		return true
	}
	r.lost.Add(1)
	return false
}

// reopen makes room for the events until the next frame.
func (r *ring) reopen() {
	r.room.left.Store(perTick)
	r.steps.left.Store(stepsPerTick)
}

// put records an event of a key, or a rare event.
func (r *ring) put(e noted) {
	if r.room.take() {
		r.append(e)
	}
}

// putStep records an event of a batch.
func (r *ring) putStep(e noted) {
	if r.steps.left.Load() > 0 && r.steps.take() {
		r.append(e)
	}
}

func (r *ring) append(e noted) {
	e.at = time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.past == nil {
		r.past = make([]noted, ringSize)
	}
	r.past[r.next%ringSize] = e
	r.next++
}

// after(seen, to) appends the events that were added after the first seen events to its second
// argument, and returns it. It also returns the total number of events.
func (r *ring) after(seen uint64, to []noted) (all []noted, next uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for at := max(seen, r.next-min(r.next, ringSize)); at < r.next; at++ {
		to = append(to, r.past[at%ringSize])
	}
	return to, r.next
}

// newest returns the total number of events.
func (r *ring) newest() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.next
}

package view

import (
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// noted is one event of a sample, as it was noted.
type noted struct {
	what    string // one of the constants of Event.What
	of      string // which handler
	kind    string // ADDED, Updated and so on
	cause   string
	key     types.NamespacedName
	name    string // of a key that names no object
	version string
	at      time.Time
	waited  time.Duration
	ran     time.Duration
	count   int
	text    string
}

// ring has the newest events of a sample. Readers go through it at their own pace, and miss what was
// overwritten.
type ring struct {
	start time.Time // of the view
	room  room      // of events of keys
	steps room      // of events of whole batches, which must not take the room of the others

	mu   sync.Mutex // guards following
	past []noted    // with ringSize elements from the first event on
	next uint64     // how many events there were
}

// ringSize is how many events a ring has. perTick is how many events of keys it takes between two frames, and
// stepsPerTick how many of batches: more would neither be seen on a picture, nor would they be cheap.
const (
	ringSize     = 512
	perTick      = 96
	stepsPerTick = 32
)

// room is for how many events there is room until the next frame. To find that there is none costs neither a lock
// nor a look at the clock.
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

// put notes an event of a key, or one that is rare.
func (r *ring) put(e noted) {
	if r.room.take() {
		r.append(e)
	}
}

// putStep notes an event of a batch.
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

// after appends the events after the first seen ones, and returns how many there were in all.
func (r *ring) after(seen uint64, to []noted) (all []noted, next uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for at := max(seen, r.next-min(r.next, ringSize)); at < r.next; at++ {
		to = append(to, r.past[at%ringSize])
	}
	return to, r.next
}

// newest returns how many events there were in all.
func (r *ring) newest() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.next
}

package view

import (
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// recordedEvent is one event of a sample, as the recorder stores it.
type recordedEvent struct {
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
	start      time.Time // of the view
	keyQuota   quota     // for events of single keys
	batchQuota quota     // for events of whole batches

	mu   sync.Mutex      // guards following
	past []recordedEvent // allocated with ringSize elements at the first event
	next uint64          // total number of events
}

// ringSize is the number of events in a ring. Between two frames, a ring accepts at most
// keysPerFrame events of keys and batchesPerFrame events of batches. More events would not be
// visible on the page, and would cost too much.
const (
	ringSize        = 512
	keysPerFrame    = 96
	batchesPerFrame = 32
)

// quota counts the events that the ring still accepts until the next frame. If the quota is used
// up, an event costs neither a lock nor a clock read.
type quota struct {
	left atomic.Int64
	lost atomic.Uint64
}

func (r *quota) use() bool {
	if r.left.Load() > 0 && r.left.Add(-1) >= 0 {
		return true
	}
	r.lost.Add(1)
	return false
}

// refill renews the quotas for the events until the next frame.
func (r *ring) refill() {
	r.keyQuota.left.Store(keysPerFrame)
	r.batchQuota.left.Store(batchesPerFrame)
}

// put records an event of a key, or a rare event.
func (r *ring) put(e recordedEvent) {
	if r.keyQuota.use() {
		r.append(e)
	}
}

// putBatch records an event of a batch.
func (r *ring) putBatch(e recordedEvent) {
	if r.batchQuota.left.Load() > 0 && r.batchQuota.use() {
		r.append(e)
	}
}

func (r *ring) append(e recordedEvent) {
	e.at = time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.past == nil {
		r.past = make([]recordedEvent, ringSize)
	}
	r.past[r.next%ringSize] = e
	r.next++
}

// after(seen, to) appends to the slice to all events after the first seen events, and returns the
// slice. It also returns the total number of events.
func (r *ring) after(seen uint64, to []recordedEvent) (all []recordedEvent, next uint64) {
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

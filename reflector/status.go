package reflector

import (
	"sync"
	"time"
)

// Status is a consistent copy of a reflector's phase and of the record of its work.
type Status struct {
	// Phase is the reflector's phase, and Since is when the phase began. Both are zero
	// before the first Run.
	Phase Phase
	Since time.Time

	// Synced is true if the sink has received a whole snapshot.
	Synced bool

	// ResourceVersion is the version through which the sink has got everything, or "" before the
	// first snapshot.
	ResourceVersion string

	// ListMode is how the reflector takes snapshots: List or WatchList. It differs from
	// Options.ListMode if that is Auto, or if streaming lists did not work.
	ListMode ListMode

	// Items is the number of objects in the current snapshot so far, or in the last snapshot. Total
	// is the expected number, or 0 if the server has not sent it.
	Items int
	Total int64

	// LastListAt is when the sink got the last snapshot. LastEventAt is when the reflector last
	// received an event or a bookmark on a watch.
	LastListAt, LastEventAt time.Time

	// Undecodable has the objects that the sink lacks, or has in an older state, because they were
	// undecodable. An object leaves the set when it is deleted, or when an event or a snapshot has
	// a decodable state of it. The reflector does not request single objects: an object that was
	// damaged in transit stays in the set until it changes or is listed again. Objects without a
	// readable name leave the set with the next snapshot. The reflector takes that snapshot when
	// the current watch ends.
	Undecodable Undecodable

	// Failures is the number of consecutive failed attempts. 0 means that nothing fails.
	Failures int

	// LastError is the last error that was reported to OnError, an [Error], and LastErrorAt is the
	// time of that report. Success does not clear them.
	LastError   error
	LastErrorAt time.Time

	// NextRetry is when the current wait ends. It is zero outside of BackingOff.
	NextRetry time.Time

	Stats
}

// Stats counts a reflector's work since New.
type Stats struct {
	// Lists counts the snapshots that the reflector started, by lists or streaming lists. Relists
	// counts the snapshots that started when the sink already had one.
	Lists, Relists uint64

	// Pages counts the requests for pages of lists, StreamingLists the requests for streaming
	// lists, and Watches the requests for watches that start from a version.
	Pages, StreamingLists, Watches uint64

	// Comparisons counts the requests for the server's version after a lost watch.
	Comparisons uint64

	// Listed counts the objects of lists. Events counts the events of watches and streaming
	// lists, except for bookmarks, which Bookmarks counts.
	Listed, Events, Bookmarks uint64

	// Errors counts the failed attempts, and Skipped the undecodable objects. Stale counts the
	// events and bookmarks that the reflector dropped because they were older than their watch; see
	// [ErrLate].
	Errors, Skipped, Stale uint64
}

// Status returns a consistent copy of the record. It may be called at any time, from any goroutine,
// and does not wait for the reflector.
func (r *Reflector[T]) Status() Status { return r.record.get() }

// Stats returns the counters of Status.
func (r *Reflector[T]) Stats() Stats { return r.record.get().Stats }

// record is the part of a reflector's state that other goroutines read.
type record struct {
	mu     sync.Mutex // guards following
	status Status
	active bool // Run is running
}

// start marks the reflector as running. It returns false if it was running already.
func (r *record) start() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.active {
		return false
	}
	r.active = true
	r.status.Failures = 0
	return true
}

func (r *record) stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.active = false
}

func (r *record) get() Status {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.status
}

// update calls f with the status locked.
func (r *record) update(f func(*Status)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f(&r.status)
}

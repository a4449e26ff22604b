package deltafifo

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/listwatch"
)

// FIFO is a queue of deltas, kept in one stack per key, between one producer and one consumer. The
// package comment describes how it works, and its guarantees.
//
// All methods except Pop are safe for concurrent use. If several producers add deltas of one key,
// the deltas are in the order in which the producers got the lock.
type FIFO[T any] struct {
	known    Known[T]
	limit    int // number of deltas per key above which updates merge
	observer *Observer

	// ready has a token if there may be pending deltas that a waiting Pop has not seen. One slot is
	// enough, because a Pop takes all pending deltas.
	ready chan struct{}

	popping atomic.Bool // a Pop is running

	mu      sync.Mutex // guards following
	pending pendingDeltas[T]
	// the keys of the batch in flight; empty after the batch was applied
	inFlight   footprint
	spareIndex map[types.NamespacedName]int // an empty map for the next stackIndex
	// the newest version that the producer has reported
	resourceVersion string
	poppedVersion   string // the resourceVersion of the newest batch
	populated       bool   // there was a Replace
	unordered       bool   // versions of Adds do not count; see Replace
	closed          bool
	popped          int   // number of times that Pop took the pending deltas
	applied         int   // number of these that were applied, or made no batch
	stats           Stats // counters and InFlight; Stats() fills in the rest
}

// New returns an empty queue. The argument known says what the consumer's store has. New starts no
// goroutine.
func New[T any](known Known[T], opts Options) *FIFO[T] {
	if known == nil {
		panic("deltafifo: New needs a Known that says what the consumer has applied: known is nil")
	}
	return &FIFO[T]{
		known:    known,
		limit:    opts.maxDeltasPerKey(),
		observer: opts.Observer,
		ready:    make(chan struct{}, 1),
	}
}

// Add queues that the object was created. It returns ErrClosed after Close.
func (f *FIFO[T]) Add(key types.NamespacedName, obj T, resourceVersion string) error {
	return f.queueDelta(key, Delta[T]{Type: Added, Object: obj, ResourceVersion: resourceVersion}, resourceVersion)
}

// Update queues that the object was changed. It returns ErrClosed after Close.
func (f *FIFO[T]) Update(key types.NamespacedName, obj T, resourceVersion string) error {
	return f.queueDelta(key, Delta[T]{Type: Updated, Object: obj, ResourceVersion: resourceVersion}, resourceVersion)
}

// Delete queues that the object was deleted. obj is its last state, and resourceVersion the version
// of the deletion. If neither the consumer nor a pending delta has the object at the next Pop, Pop
// drops the Deleted. It hands out only the version of the deletion (DF-6). Two consecutive deletes
// become one. It returns ErrClosed after Close.
func (f *FIFO[T]) Delete(key types.NamespacedName, obj T, resourceVersion string) error {
	return f.queueDelta(key, Delta[T]{Type: Deleted, Object: obj, ResourceVersion: resourceVersion}, resourceVersion)
}

// Bookmark records that the producer has reported everything up to resourceVersion. If this version
// is newer than the last one, Pop hands it out, if necessary as a batch without stacks. It returns
// ErrClosed after Close.
func (f *FIFO[T]) Bookmark(resourceVersion string) error {
	defer f.wake()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return ErrClosed
	}
	f.unordered = false
	f.reportedLocked(resourceVersion)
	return nil
}

// Resync requests Sync deltas. The next Pop adds one for each key that the consumer has and that
// has no pending delta (DF-23). So a Sync with an older state never follows a newer one. It returns
// ErrClosed after Close.
func (f *FIFO[T]) Resync() error {
	defer f.wake()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return ErrClosed
	}
	f.pending.resync = true
	f.reportedLocked("")
	return nil
}

// HasVersion reports whether the producer's newest state of a key has exactly this version and this
// hash of the UID. An unknown hash (0) matches every hash. The result holds until the producer
// reports another state: a producer that is about to call Replace can mark the object as Unchanged.
// For a key in the batch in flight HasVersion returns false, because it cannot read the key's
// newest state at that moment.
func (f *FIFO[T]) HasVersion(key types.NamespacedName, resourceVersion string, uidHash uint64) bool {
	if resourceVersion == "" {
		return false
	}
	f.mu.Lock()
	if i, ok := f.pending.stackIndex[key]; ok {
		newest := f.pending.stacks[i].Newest()
		f.mu.Unlock()
		return newest.Type != Deleted && newest.ResourceVersion == resourceVersion && !listwatch.OtherUID(newest.UIDHash, uidHash)
	}
	moving := f.pending.touches(key) || f.inFlight.touches(key)
	f.mu.Unlock()
	if moving {
		return false
	}
	// The key was neither pending nor in flight, so Known had its newest state when the lock was
	// released. If Known has another state now, that state was reported, popped and applied since
	// then. Either way the result was right at some moment of the call.
	_, known, knownUID, ok := f.known.LastApplied(key)
	return ok && known == resourceVersion && !listwatch.OtherUID(knownUID, uidHash)
}

// BatchNumber returns the number of the batch that has, or will have, the last delta queued so far;
// see Batch.Number.
func (f *FIFO[T]) BatchNumber() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.pending.empty() {
		return f.popped
	}
	return f.popped + 1
}

// Applied reports whether the consumer has applied the batch with this number. It returns false
// until the next call of Pop. It also returns true if the batch turned out to be empty.
func (f *FIFO[T]) Applied(batch int) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return batch <= f.applied
}

// Close closes the queue to producers: from now on all methods that queue something return
// ErrClosed. Pop still hands out the pending deltas, and then returns ErrClosed as well (DF-13).
// Close returns at once, and may be called again.
func (f *FIFO[T]) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	f.wake()
}

// Apply queues an event of a watch, as Add, Update, Delete and Bookmark do. If the event is
// Unordered, its version does not count: then only a Bookmark moves the queue's resourceVersion.
//
// A Deleted event that is Undecodable becomes a tombstone. A Modified
// event that is Undecodable means that the present object of the key is undecodable. If the known
// object has another UIDHash, it was deleted, and gets a tombstone. Otherwise the known state
// stays.
//
// Apply returns ErrClosed after Close, and an error for an event of an unknown type.
func (f *FIFO[T]) Apply(event listwatch.Event[T]) error {
	d := Delta[T]{Object: event.Object, ResourceVersion: event.ResourceVersion, UIDHash: event.UIDHash}
	switch event.Type {
	case listwatch.Added:
		d.Type = Added
	case listwatch.Modified:
		if event.State == listwatch.Undecodable {
			return f.applyUndecodable(event.Key, event.UIDHash, event.ResourceVersion)
		}
		d.Type = Updated
	case listwatch.Deleted:
		d.Type, d.FinalStateUnknown = Deleted, event.State == listwatch.Undecodable
	case listwatch.Bookmark:
		return f.Bookmark(event.ResourceVersion)
	default:
		return fmt.Errorf("deltafifo: a watch event of type %v cannot become a delta", event.Type)
	}
	through := event.ResourceVersion
	if event.Unordered {
		through = ""
	}
	return f.queueDelta(event.Key, d, through)
}

// queueDelta queues one delta: Added, Updated or Deleted. The argument through is the version up to
// which the producer has then reported everything, or "".
func (f *FIFO[T]) queueDelta(key types.NamespacedName, d Delta[T], through string) error {
	f.mu.Lock()
	if f.closed {
		f.mu.Unlock()
		return ErrClosed
	}
	f.unordered = f.unordered && d.Type == Added
	f.reportedLocked(through)
	f.pushLocked(key, d)
	sweepDue := d.Type == Deleted && f.sweepDueLocked()
	f.mu.Unlock()

	f.wake()
	f.observer.delta(key, d.Type, d.ResourceVersion)
	if sweepDue {
		f.sweep()
	}
	return nil
}

// pushLocked puts d on the key's stack. Beyond the limit, a stack gets at most three more deltas: a
// Deleted, and the first and the newest state of the object that follows. The method of the same
// name in plain/deltafifo.go only appends. While its consumer is slow, memory grows with the number
// of changes, not of objects.
func (f *FIFO[T]) pushLocked(key types.NamespacedName, d Delta[T]) {
	f.stats.Queued++
	s := &f.pending
	i, ok := s.stackIndex[key]
	if !ok {
		s.addStack(key, s.singleDelta(d, 1))
		return
	}
	stack := &s.stacks[i]
	if d.Type != Deleted && d.UIDHash != 0 && stack.Deltas[0].replacesKnown == ifOtherUID {
		s.replaceUndecodable(i, d)
		return
	}
	full := len(stack.Deltas) >= f.limit
	dropped := full && endsObject(stack.Newest(), d) && f.dropNewestObjectLocked(stack)
	newest := &stack.Deltas[len(stack.Deltas)-1]
	switch {
	case dropped && d.Type == Updated && newest.Type == Deleted:
		d.Type = Added // the stack no longer has the earlier states of the object
	case d.Type == Deleted && newest.Type != Deleted && listwatch.OtherUID(newest.UIDHash, d.UIDHash):
		// The deleted object had replaced newest's object, whose deletion has no event. So d
		// becomes a tombstone of newest.
		d = Delta[T]{Type: Deleted, FinalStateUnknown: true, Object: newest.Object, ResourceVersion: d.ResourceVersion, UIDHash: newest.UIDHash}
	}
	switch {
	case dropped && d.Type == Deleted && newest.Type == Deleted && newest.replacesKnown != ifOtherUID:
		f.stats.Merged++ // the Deleted on the stack stands for both
	case d.Type == Deleted && newest.replacesKnown != 0:
		f.stats.Collapsed++
		if d.replacesKnown = ifAnyUID; !d.FinalStateUnknown {
			d.replacesKnown = 0 // the deletion has an event, so Pop need not decide
		}
		*newest = d
	case d.Type == Deleted && newest.Type == Deleted:
		// DF-3: a Deleted replaces a tombstone; otherwise the first Deleted stays
		f.stats.Collapsed++
		if newest.FinalStateUnknown && !listwatch.OtherUID(newest.UIDHash, d.UIDHash) {
			*newest = d
		}
	case full && mergeable(stack.Deltas, d):
		f.stats.Merged++
		d.Restored = d.Restored || newest.Restored
		*newest = d
	default:
		deltas := stack.Deltas
		stack.Deltas = append(deltas, d)
		s.deltas++
		if len(deltas) == cap(deltas) {
			clear(deltas) // the deltas have moved; other stacks may use their old page
		}
	}
}

// sweepDueLocked counts a Deleted, and reports whether a sweep is due. A sweep reads every stack,
// so it is due only after a number of Deleted in proportion to the stacks.
func (f *FIFO[T]) sweepDueLocked() bool {
	f.pending.deletes++
	return f.pending.deletes >= max(f.limit, len(f.pending.stacks)/2)
}

// endsObject reports whether the object of the first delta no longer exists at the second delta.
// Then the second delta is a Deleted, or is about another object.
func endsObject[T any](first, second Delta[T]) bool {
	return first.Type != Deleted && (second.Type == Deleted || listwatch.OtherUID(first.UIDHash, second.UIDHash))
}

// startsObject reports whether the delta at this index is the first state of an object that follows
// another object in the same stack.
func startsObject[T any](deltas []Delta[T], at int) bool {
	return at > 0 && (deltas[at-1].Type == Deleted || endsObject(deltas[at-1], deltas[at]))
}

// mergeable reports whether d may replace the newest delta. Both must be states of the same object.
// The newest delta must be neither the first of the stack nor the first of its object.
func mergeable[T any](deltas []Delta[T], d Delta[T]) bool {
	last := len(deltas) - 1
	return d.Type != Deleted && deltas[last].Type != Deleted && !endsObject(deltas[last], d) && last > 0 && !startsObject(deltas, last)
}

// dropNewestObjectLocked removes all deltas of the newest object, which is gone, from a stack. It
// does so only if a delta of another object comes before them, because then the stack has all of
// them. It reports whether it has removed them.
func (f *FIFO[T]) dropNewestObjectLocked(stack *Stack[T]) bool {
	at := len(stack.Deltas) - 1
	for at > 0 && !startsObject(stack.Deltas, at) {
		at--
	}
	if at == 0 {
		return false
	}
	lost := len(stack.Deltas) - at
	clear(stack.Deltas[at:])
	stack.Deltas = stack.Deltas[:at]
	f.pending.deltas -= lost
	f.stats.Merged += uint64(lost)
	return true
}

// reportedLocked records that the producer has reported something up to resourceVersion, which may
// be "". The caller calls wake after it has unlocked the queue, because Pop then takes the lock.
func (f *FIFO[T]) reportedLocked(resourceVersion string) {
	if f.pending.empty() {
		f.pending.since = time.Now()
	}
	if resourceVersion != "" && !f.unordered {
		f.resourceVersion = resourceVersion
	}
}

func (f *FIFO[T]) wake() {
	select {
	case f.ready <- struct{}{}:
	default:
	}
}

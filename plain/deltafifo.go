// The DeltaFIFO. Between who hears of changes and who applies them there is a queue, of an unusual kind: it
// is a queue of keys, and each key has the list of what has happened to it, its deltas. A key stands in the
// queue once, however often it changes, so the consumer takes all news of one object in one go and in order,
// and objects get their turn one after another. The queue also does what nobody else can: when a list
// replaces everything, it compares the list with what the consumer knows, and makes a Deleted delta for each
// object that has vanished. The watch never told of that deletion, so nobody has its final state; what the
// consumer had last stands in its place, and the delta is marked a tombstone.

package plain

import (
	"errors"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Delta is one thing that happened to an object.
type Delta[T metav1.Object] struct {
	Type   DeltaType
	Object T

	// FinalStateUnknown marks a tombstone: a deletion that was found out by a list. Object is the last state
	// that was known.
	FinalStateUnknown bool
}

// DeltaType says what happened.
type DeltaType string

// The types of deltas. Replaced says that an object is in a list, whether or not it has changed; Sync, that
// nothing has happened, and that handlers are to look at the object again.
const (
	Added    DeltaType = "Added"
	Updated  DeltaType = "Updated"
	Deleted  DeltaType = "Deleted"
	Replaced DeltaType = "Replaced"
	Sync     DeltaType = "Sync"
)

// ErrClosed is what a queue answers after Close.
var ErrClosed = errors.New("the queue is closed")

// DeltaFIFO is a queue of keys with their deltas. It is safe for concurrent use.
type DeltaFIFO[T metav1.Object] struct {
	known *Store[T] // what the consumer has

	mu      sync.Mutex // guards following
	arrived *sync.Cond // there is something in the queue, or it is closed
	items   map[types.NamespacedName][]Delta[T]
	queue   []types.NamespacedName // the keys of items, in the order of their first deltas
	closed  bool

	listed  bool   // there was a first Replace
	initial int    // how many keys of it were not popped yet
	newest  string // version of the last change that was queued
	applied string // version through which everything was popped
}

// NewDeltaFIFO returns an empty queue. Its consumer keeps objects in known.
func NewDeltaFIFO[T metav1.Object](known *Store[T]) *DeltaFIFO[T] {
	f := &DeltaFIFO[T]{known: known, items: map[types.NamespacedName][]Delta[T]{}}
	f.arrived = sync.NewCond(&f.mu)
	return f
}

// Change queues what a watch has told: Added, Updated or Deleted. The deletion of an object of which nobody has
// heard is dropped.
func (f *DeltaFIFO[T]) Change(delta DeltaType, object T) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return ErrClosed
	}
	f.newest = object.GetResourceVersion()
	if _, stored := f.known.Get(KeyOf(object)); delta == Deleted && !stored && len(f.items[KeyOf(object)]) == 0 {
		return nil
	}
	f.pushLocked(Delta[T]{Type: delta, Object: object})
	return nil
}

// Replace queues a list, and the deletion of everything that is not in it.
func (f *DeltaFIFO[T]) Replace(list []T, version string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return ErrClosed
	}
	exists := map[types.NamespacedName]bool{}
	for _, object := range list {
		exists[KeyOf(object)] = true
		f.pushLocked(Delta[T]{Type: Replaced, Object: object})
	}
	for key, deltas := range f.items { // These changes are pending, and have been overtaken.
		if last := deltas[len(deltas)-1]; !exists[key] && last.Type != Deleted {
			f.pushLocked(Delta[T]{Type: Deleted, Object: last.Object, FinalStateUnknown: true})
		}
	}
	for _, object := range f.known.List() {
		if key := KeyOf(object); !exists[key] && len(f.items[key]) == 0 {
			f.pushLocked(Delta[T]{Type: Deleted, Object: object, FinalStateUnknown: true})
		}
	}
	f.newest = version
	if !f.listed {
		f.listed, f.initial = true, len(f.queue)
	}
	f.settleLocked()
	return nil
}

// Bookmark says that there was nothing else up to a version.
func (f *DeltaFIFO[T]) Bookmark(version string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.newest = version
	f.settleLocked()
}

// Resync queues a Sync for every object that the consumer has, but for those that have news anyway.
func (f *DeltaFIFO[T]) Resync() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return ErrClosed
	}
	for _, object := range f.known.List() {
		if len(f.items[KeyOf(object)]) == 0 {
			f.pushLocked(Delta[T]{Type: Sync, Object: object})
		}
	}
	return nil
}

// pushLocked adds a delta to its key, and the key to the queue. Of two deletions in a row the first stays,
// which has the final state if any of them has.
func (f *DeltaFIFO[T]) pushLocked(delta Delta[T]) {
	key := KeyOf(delta.Object)
	deltas := f.items[key]
	if len(deltas) == 0 {
		f.queue = append(f.queue, key)
	} else if delta.Type == Deleted && deltas[len(deltas)-1].Type == Deleted {
		return
	}
	f.items[key] = append(deltas, delta)
	f.arrived.Broadcast()
}

// settleLocked moves applied on when there is nothing left to apply.
func (f *DeltaFIFO[T]) settleLocked() {
	if len(f.queue) == 0 {
		f.applied = f.newest
	}
}

// Pop waits for a key and hands its deltas to apply, oldest first. The queue stands still meanwhile: so what
// is in the store and what is in the queue are always the whole truth, and nothing is on its way between
// them. initial says that they are of the first list. Pop returns apply's error, or ErrClosed when the queue
// is closed and empty.
func (f *DeltaFIFO[T]) Pop(apply func(deltas []Delta[T], initial bool) error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(f.queue) == 0 && !f.closed {
		f.arrived.Wait()
	}
	if len(f.queue) == 0 {
		return ErrClosed
	}
	key := f.queue[0]
	deltas := f.items[key]
	f.queue = f.queue[1:]
	delete(f.items, key)
	err := apply(deltas, f.initial > 0)
	f.initial = max(f.initial-1, 0)
	f.settleLocked()
	return err
}

// Synced says that everything in the first list was popped.
func (f *DeltaFIFO[T]) Synced() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.listed && f.initial == 0
}

// Applied returns the version through which everything was popped, "" before the first list was.
func (f *DeltaFIFO[T]) Applied() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.applied
}

// Close lets the consumer take what is left, and nothing else in.
func (f *DeltaFIFO[T]) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	f.arrived.Broadcast()
}

// What package deltafifo does beyond this:
//
//   - The deltas of a key are bounded: a key that changes while nobody takes it is one update from old to
//     newest.
//   - A relist is one bracket: the consumer applies all of it in one step, so no reader sees half of it.
//   - No lock is held while the consumer works, so a watch goes on filling the queue beside it.
//   - It takes keys out in batches, and reuses what deltas and keys were kept in.
//   - It knows the versions of objects that are unchanged, so a relist of them costs no decoding and no
//     delta.

// The DeltaFIFO. The reflector receives changes, and the informer applies them. Between the two is
// an unusual queue: a queue of keys. Each key has a list of the changes of its object, the deltas.
// A key is in the queue once, however often its object changes. So the consumer takes all changes
// of one object together and in order. The queue also finds vanished objects. When a list replaces
// everything, the queue makes a Deleted delta for each of the consumer's objects that the list
// lacks. The watch missed these deletions, so the last states of the objects are unknown. Such a
// delta has the last known state, and is marked as a tombstone.

package plain

import (
	"errors"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Delta is one change of an object.
type Delta[T metav1.Object] struct {
	Type   DeltaType
	Object T

	// FinalStateUnknown marks a tombstone: a deletion that a list has revealed. Object is the last
	// known state.
	FinalStateUnknown bool
}

// DeltaType is the kind of a delta.
type DeltaType string

// These are the types of deltas. Replaced means that an object is in a list, changed or not. Sync
// means that the object has not changed, and that handlers should process it again.
const (
	Added    DeltaType = "Added"
	Updated  DeltaType = "Updated"
	Deleted  DeltaType = "Deleted"
	Replaced DeltaType = "Replaced"
	Sync     DeltaType = "Sync"
)

// ErrClosed is the error of a queue after Close.
var ErrClosed = errors.New("the queue is closed")

// DeltaFIFO is a queue of keys with their deltas. It is safe for concurrent use.
type DeltaFIFO[T metav1.Object] struct {
	known *Store[T] // the consumer's store

	mu      sync.Mutex // guards following
	arrived *sync.Cond // signals that the queue is closed or no longer empty
	items   map[types.NamespacedName][]Delta[T]
	queue   []types.NamespacedName // the keys of items, in the order of their first deltas
	closed  bool

	listed  bool   // there was a first Replace
	initial int    // number of its keys that have not been popped
	newest  string // version of the last change from the server
	applied string // version up to which the consumer has applied every change
}

// NewDeltaFIFO returns an empty queue. Its consumer keeps objects in known.
func NewDeltaFIFO[T metav1.Object](known *Store[T]) *DeltaFIFO[T] {
	f := &DeltaFIFO[T]{known: known, items: map[types.NamespacedName][]Delta[T]{}}
	f.arrived = sync.NewCond(&f.mu)
	return f
}

// Change queues a change from a watch: Added, Updated or Deleted. If neither the consumer nor the
// queue has the object, Change drops its deletion.
func (f *DeltaFIFO[T]) Change(delta DeltaType, object T) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return ErrClosed
	}
	f.newest = object.GetResourceVersion()
	key := KeyOf(object)
	if _, stored := f.known.Get(key); stored || len(f.items[key]) > 0 || delta != Deleted {
		f.pushLocked(Delta[T]{Type: delta, Object: object})
	}
	f.updateAppliedLocked()
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
	for key, deltas := range f.items { // objects with queued deltas
		if last := deltas[len(deltas)-1]; !exists[key] && last.Type != Deleted {
			f.pushLocked(Delta[T]{Type: Deleted, Object: last.Object, FinalStateUnknown: true})
		}
	}
	for _, object := range f.known.List() { // objects without queued deltas
		if key := KeyOf(object); !exists[key] && len(f.items[key]) == 0 {
			f.pushLocked(Delta[T]{Type: Deleted, Object: object, FinalStateUnknown: true})
		}
	}
	f.newest = version
	if !f.listed {
		f.listed, f.initial = true, len(f.queue)
	}
	f.updateAppliedLocked()
	return nil
}

// Bookmark records that the server has sent every change up to a version.
func (f *DeltaFIFO[T]) Bookmark(version string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.newest = version
	f.updateAppliedLocked()
}

// Resync queues a Sync for every object that the consumer has, except for objects with queued
// deltas. Their Sync would have an older state than these deltas.
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

// pushLocked adds a delta to its key, and the key to the queue. If the last delta is a deletion
// already, pushLocked drops another deletion, because only the first deletion may have the last
// state.
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

// updateAppliedLocked advances applied when nothing is left to apply.
func (f *DeltaFIFO[T]) updateAppliedLocked() {
	if len(f.queue) == 0 {
		f.applied = f.newest
	}
}

// Pop waits for a key and passes its deltas to apply, oldest first. It holds the lock while apply
// runs, so that each change is always in the queue or in the store. If initial is true, the key is
// from the first list. Pop returns apply's error, or ErrClosed when the queue is closed and empty.
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
	f.updateAppliedLocked()
	return err
}

// Synced reports whether the consumer has applied all of the first list.
func (f *DeltaFIFO[T]) Synced() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.listed && f.initial == 0
}

// Applied returns the version up to which the consumer has applied every change, or "" before the
// first list.
func (f *DeltaFIFO[T]) Applied() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.applied
}

// Close makes the queue refuse further changes. The consumer still gets the queued deltas.
func (f *DeltaFIFO[T]) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	f.arrived.Broadcast()
}

// Package deltafifo does more than this file, for these reasons:
//
//   - It limits the deltas of a key. If an object changes often while the consumer is busy, the
//     changes become one update from old to newest. Here, memory grows with the number of changes.
//   - It hands out a relist as one batch: the consumer applies all of it in one step, so that no
//     reader sees half of it.
//   - It holds no lock while the consumer works, so that a watch can go on filling the queue.
//   - It hands out keys in batches, and reuses the memory of deltas and keys: both make bursts
//     cheaper.
//   - It recognises the unchanged objects of a list: in a relist, these objects need neither
//     decoding nor a delta.

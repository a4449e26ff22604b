package deltafifo

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/listwatch"
)

// replacesKnown is the condition under which an undecodable object has replaced the known object of
// its key. The known object was then deleted.
type replacesKnown uint8

const (
	// ifOtherUID means that the known object was deleted if it has another UIDHash at Pop.
	ifOtherUID replacesKnown = iota + 1

	// ifAnyUID means that the known object was deleted, whatever its UIDHash is. Either two
	// different objects were undecodable, one after the other, or a Replace did not list the key.
	ifAnyUID
)

// applyUndecodable implements Apply for an existing object that is undecodable.
func (f *FIFO[T]) applyUndecodable(key types.NamespacedName, uidHash uint64, resourceVersion string) error {
	f.mu.Lock()
	if f.closed {
		f.mu.Unlock()
		return ErrClosed
	}
	gone := false
	if _, pending := f.pending.stackIndex[key]; uidHash != 0 && (pending || !f.pending.vanished(key)) {
		f.reportedLocked("")
		gone = f.addUndecodableLocked(key, uidHash, resourceVersion)
	}
	f.mu.Unlock()
	f.wake()
	if gone {
		f.observer.delta(key, Deleted, resourceVersion)
	}
	return nil
}

// addUndecodableLocked does the work of applyUndecodable for a key that has not vanished. The
// result gone is true if it has put a tombstone on a pending stack. If the key has no stack, Pop
// decides whether the known object was deleted; see resolveUndecided.
func (f *FIFO[T]) addUndecodableLocked(key types.NamespacedName, uidHash uint64, resourceVersion string) (gone bool) {
	if uidHash == 0 {
		return false
	}
	s := &f.pending
	d := Delta[T]{Type: Deleted, FinalStateUnknown: true, ResourceVersion: resourceVersion, UIDHash: uidHash}
	i, pending := s.stackIndex[key]
	if !pending {
		d.replacesKnown = ifOtherUID
		f.stats.Queued++
		s.addStack(key, s.singleDelta(d, 1))
		return false
	}
	newest := s.stacks[i].Newest()
	if !listwatch.OtherUID(newest.UIDHash, uidHash) || newest.Type == Deleted && newest.replacesKnown == 0 {
		return false
	}
	f.pushLocked(key, d)
	return newest.replacesKnown == 0
}

// replaceUndecodable replaces the delta of an undecodable object by a decoded state. Pop need not
// decide about the stack any more, because the consumer compares the UIDHash of the state with the
// UIDHash of its object.
func (s *pendingDeltas[T]) replaceUndecodable(i int, d Delta[T]) {
	s.stacks[i].Deltas[0] = d
	if at, ok := slices.BinarySearch(s.undecided, i); ok {
		s.undecided = slices.Delete(s.undecided, at, at+1)
	}
}

package deltafifo

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/listwatch"
)

// unread says under which condition an undecodable object has replaced the known object of its key.
// The known object is then gone.
type unread uint8

const (
	// ifAnother means that the known object is gone if it has another UIDHash at Pop.
	ifAnother unread = iota + 1

	// inAnyCase means that the known object is gone whatever its UIDHash is. Either two different
	// objects were undecodable, one after the other, or a Replace did not list the key.
	inAnyCase
)

// unread implements Apply for an existing object that is undecodable.
func (f *FIFO[T]) unread(key types.NamespacedName, uidHash uint64, resourceVersion string) error {
	f.mu.Lock()
	if f.closed {
		f.mu.Unlock()
		return ErrClosed
	}
	gone := false
	if _, pending := f.pending.place[key]; uidHash != 0 && (pending || !f.pending.vanished(key)) {
		f.touchLocked("")
		gone = f.unreadLocked(key, uidHash, resourceVersion)
	}
	f.mu.Unlock()
	f.wake()
	if gone {
		f.observer.delta(key, Deleted, resourceVersion)
	}
	return nil
}

// unreadLocked does the work of the method unread for a key that has not vanished. gone is true if
// it has put a tombstone on a pending stack. If the key has no stack, Pop decides whether the known
// object is gone; see decide.
func (f *FIFO[T]) unreadLocked(key types.NamespacedName, uidHash uint64, resourceVersion string) (gone bool) {
	if uidHash == 0 {
		return false
	}
	s := &f.pending
	d := Delta[T]{Type: Deleted, FinalStateUnknown: true, ResourceVersion: resourceVersion, UIDHash: uidHash}
	i, pending := s.place[key]
	if !pending {
		d.unread = ifAnother
		f.stats.Queued++
		s.open(key, s.alone(d, 1))
		return false
	}
	newest := s.stacks[i].Newest()
	if !listwatch.OtherUID(newest.UIDHash, uidHash) || newest.Type == Deleted && newest.unread == 0 {
		return false
	}
	f.pushLocked(key, d)
	return newest.unread == 0
}

// readAgain replaces the delta of an undecodable object by a decoded state. Pop need not decide
// about the stack any more, because the consumer compares the UIDHash of the state with the known
// object's.
func (s *shelf[T]) readAgain(i int, d Delta[T]) {
	s.stacks[i].Deltas[0] = d
	if at, ok := slices.BinarySearch(s.doubtful, i); ok {
		s.doubtful = slices.Delete(s.doubtful, at, at+1)
	}
}

package deltafifo

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/listwatch"
)

// unread says when the object that the consumer knows is gone because another one, which
// could not be read, has its key.
type unread uint8

const (
	// ifAnother: if the consumer knows an object of another UIDHash, at Pop.
	ifAnother unread = iota + 1

	// inAnyCase: whichever object the consumer knows. Two different objects could not be
	// read one after another, or a Replace lists no object of the key.
	inAnyCase
)

// unread is Apply for an object that exists and could not be read.
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

// unreadLocked is unread for a key that has not vanished. It reports whether it has put
// a tombstone on a stack that was pending. Where there is none, Pop decides: see decide.
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

// readAgain puts a state in the place of an object that could not be read. Its UID tells
// the consumer whether the object that it knows is another one.
func (s *shelf[T]) readAgain(i int, d Delta[T]) {
	s.stacks[i].Deltas[0] = d
	if at, ok := slices.BinarySearch(s.doubtful, i); ok {
		s.doubtful = slices.Delete(s.doubtful, at, at+1)
	}
}

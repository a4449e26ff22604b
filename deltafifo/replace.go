package deltafifo

import (
	"maps"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/listwatch"
)

// Replace queues a whole list: at its version, exactly these objects exist. All of its deltas
// are part of one batch:
//
//   - Each listed object gets a Replaced delta, even if it was deleted just before, unless it is
//     Unchanged.
//   - Each object that is pending and not listed gets a tombstone with its newest pending state,
//     unless it is deleted already.
//   - Each other object that is not listed, and that the consumer has at the next Pop, gets a
//     tombstone with the consumer's state (DF-19).
//
// An item is Unchanged if HasVersion returned true for it: the object exists, and the consumer has
// its state. If an item is Undecodable, the consumer's state stays, unless it has another UIDHash.
// If NamesMissing is set, all objects that are not listed stay. If OtherHistory is set, each delta
// is marked Restored, and the queue's resourceVersion may go down.
//
// Deltas queued after the Replace follow it: if an object was not listed and is then added, the
// consumer gets a deletion and an addition. If a key is listed twice, its last item with an object
// counts.
//
// A Replace without a version ("" or "0") comes from a server that does not report which state a
// list shows. A watch of this server begins with an Add of every object, in no particular order. So
// the queue ignores the versions of Adds until there is an Update, a Delete or a Bookmark.
//
// plain/deltafifo.go has neither batches nor Unchanged items. Its readers can see half of a list,
// and its relist of 20,000 pods allocates 626 MB instead of 7 MB (plain/README.md). Replace does
// not keep the slice. After Close it queues nothing, and returns ErrClosed.
func (f *FIFO[T]) Replace(snapshot listwatch.Snapshot[T]) error {
	f.mu.Lock()
	if f.closed {
		f.mu.Unlock()
		return ErrClosed
	}
	f.unordered = snapshot.ResourceVersion == "" || snapshot.ResourceVersion == "0"
	f.reportedLocked(snapshot.ResourceVersion)
	tombstones := f.replaceLocked(snapshot)
	f.pending.verify()
	f.mu.Unlock()
	f.wake()

	if f.observer == nil {
		return nil
	}
	for _, item := range snapshot.Items {
		if item.State == listwatch.Decoded {
			f.observer.delta(item.Key, Replaced, item.ResourceVersion)
		}
	}
	for _, item := range tombstones {
		f.observer.delta(item.Key, Deleted, item.ResourceVersion)
	}
	return nil
}

// replaceLocked adds a list to the pending deltas, first the items that have an object. If there is
// an observer, it returns the pending keys that got a tombstone.
func (f *FIFO[T]) replaceLocked(snapshot listwatch.Snapshot[T]) (tombstones []listwatch.Item[T]) {
	s, items := &f.pending, snapshot.Items
	objects := 0
	for i := range items {
		if items[i].State == listwatch.Decoded {
			objects++
		}
	}
	before := len(s.stacks)
	if before == 0 {
		s.reserve(objects)
	}
	listed := make([]bool, before) // by index of a pending stack: whether the list has its key
	left := objects
	for i := range items {
		item := &items[i]
		if item.State != listwatch.Decoded {
			continue
		}
		d := Delta[T]{Type: Replaced, Restored: snapshot.OtherHistory, Object: item.Object, ResourceVersion: item.ResourceVersion, UIDHash: item.UIDHash}
		at, pending := s.stackIndex[item.Key]
		switch {
		case !pending:
			f.stats.Queued++
			s.addStack(item.Key, s.singleDelta(d, left))
		case at >= before || listed[at]: // a duplicate in this list
			stack := s.stacks[at].Deltas
			stack[len(stack)-1] = d
		default:
			listed[at] = true
			f.pushLocked(item.Key, d)
		}
		left--
	}

	addTombstone := func(at int) {
		key, newest := s.stacks[at].Key, s.stacks[at].Newest()
		f.pushLocked(key, tombstone(newest.Object, newest.ResourceVersion, newest.UIDHash))
		if f.observer != nil {
			tombstones = append(tombstones, listwatch.Item[T]{Key: key, ResourceVersion: newest.ResourceVersion})
		}
	}
	kept := make(map[types.NamespacedName]struct{}, len(items)-objects)
	for i := range items {
		item := &items[i]
		var uidHash uint64 // of an undecodable object, otherwise 0
		switch item.State {
		case listwatch.Decoded:
			continue
		case listwatch.Undecodable:
			uidHash = item.UIDHash
		}
		at, pending := s.stackIndex[item.Key]
		switch {
		case pending && (at >= before || listed[at]): // an item with an object counts
		case pending:
			listed[at] = true
			if newest := s.stacks[at].Newest(); newest.replacesKnown != 0 || !listwatch.OtherUID(newest.UIDHash, uidHash) {
				f.addUndecodableLocked(item.Key, uidHash, "")
			} else {
				addTombstone(at)
			}
		case !s.vanished(item.Key):
			// a key that an earlier pending Replace did not list stays vanished
			kept[item.Key] = struct{}{}
			f.addUndecodableLocked(item.Key, uidHash, "")
		}
	}
	for at, listed := range listed {
		if !listed && !snapshot.NamesMissing {
			addTombstone(at)
		}
	}

	if snapshot.NamesMissing && s.replaced {
		maps.Copy(s.kept, kept) // keys that an earlier pending Replace did not list stay vanished
	} else {
		s.keepMissing, s.kept = snapshot.NamesMissing, kept
	}
	s.replaced = true
	s.initial = s.initial || !f.populated
	f.populated = true
	f.stats.Replaces++
	return tombstones
}

func tombstone[T any](lastKnown T, resourceVersion string, uidHash uint64) Delta[T] {
	return Delta[T]{Type: Deleted, FinalStateUnknown: true, Object: lastKnown, ResourceVersion: resourceVersion, UIDHash: uidHash}
}

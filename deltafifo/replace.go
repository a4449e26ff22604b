package deltafifo

import (
	"maps"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/listwatch"
)

// Replace queues that the objects are now these, at resourceVersion, and no
// others. All of it is part of one batch:
//
//   - Each object listed gets a Replaced delta, also if it was deleted just
//     before, unless it is Unchanged.
//   - Each object not listed that is pending gets a Deleted with its newest
//     pending state, as a tombstone, unless it is deleted already.
//   - Each object not listed that is only known to the consumer gets a tombstone
//     with the state that the consumer knows at the next Pop (DF-19).
//
// An item is Unchanged if HasVersion said so: the object is there, and there is nothing
// new to say about it. An Unchanged item without a version stands for an object that could
// not be read: what the consumer has of it stays, unless that is of another UIDHash. One
// that has no name either stands for an object of which the name is not known: then
// everything that is not listed stays.
//
// What is told after the Replace follows after it: an object that was not listed
// and is then added is seen to be deleted and added. If a key is listed twice,
// its last item with an object counts.
//
// A Replace without a version ("" or "0") is of a server that cannot say which state
// a list shows, and whose watch therefore begins with an Add of everything, in no
// particular order. The version of an Add then says nothing about what else has
// been told, until there is an Update, a Delete or a Bookmark.
//
// plain/deltafifo.go knows neither the batch, so that readers see half of a list, nor Unchanged
// items, so that a relist of 20,000 pods allocates 626 MB instead of 8 (plain/README.md).
//
// The slice is not retained. Replace returns ErrClosed, having queued nothing, after
// Close.
func (f *FIFO[T]) Replace(items []listwatch.Item[T], resourceVersion string) error {
	return f.replace(items, resourceVersion, false)
}

// Restore is Replace for a producer that has changed its history, as a server that was
// restored from a backup: an object may differ from what was known although it has the
// same version. Each delta says so. resourceVersion may be lower than what was told
// before.
func (f *FIFO[T]) Restore(items []listwatch.Item[T], resourceVersion string) error {
	return f.replace(items, resourceVersion, true)
}

func (f *FIFO[T]) replace(items []listwatch.Item[T], resourceVersion string, restored bool) error {
	f.mu.Lock()
	if f.closed {
		f.mu.Unlock()
		return ErrClosed
	}
	f.unordered = resourceVersion == "" || resourceVersion == "0"
	f.touchLocked(resourceVersion)
	buried := f.replaceLocked(items, restored)
	f.pending.verify()
	f.mu.Unlock()
	f.wake()

	if f.observer == nil {
		return nil
	}
	for _, item := range items {
		if !item.Unchanged {
			f.observer.delta(item.Key, Replaced, item.ResourceVersion)
		}
	}
	for _, item := range buried {
		f.observer.delta(item.Key, Deleted, item.ResourceVersion)
	}
	return nil
}

// replaceLocked puts a list on the pending shelf, first the objects that it has. It
// returns which pending keys got a tombstone, if there is an observer to be told.
func (f *FIFO[T]) replaceLocked(items []listwatch.Item[T], restored bool) (buried []listwatch.Item[T]) {
	s := &f.pending
	objects, lenient := 0, false
	for i := range items {
		if item := &items[i]; !item.Unchanged {
			objects++
		} else if item.Key.Name == "" {
			lenient = true
		}
	}
	before := len(s.stacks)
	if before == 0 {
		s.reserve(objects)
	}
	there := make([]bool, before) // which of the stacks that were pending are of listed keys
	left := objects
	for i := range items {
		item := &items[i]
		if item.Unchanged {
			continue
		}
		d := Delta[T]{Type: Replaced, Restored: restored, Object: item.Object, ResourceVersion: item.ResourceVersion, UIDHash: item.UIDHash}
		at, pending := s.place[item.Key]
		switch {
		case !pending:
			f.stats.Queued++
			s.open(item.Key, s.alone(d, left))
		case at >= before || there[at]: // a second time in this list
			stack := s.stacks[at].Deltas
			stack[len(stack)-1] = d
		default:
			there[at] = true
			f.pushLocked(item.Key, d)
		}
		left--
	}

	bury := func(at int) {
		key, newest := s.stacks[at].Key, s.stacks[at].Newest()
		f.pushLocked(key, tombstone(newest.Object, newest.ResourceVersion, newest.UIDHash))
		if f.observer != nil {
			buried = append(buried, listwatch.Item[T]{Key: key, ResourceVersion: newest.ResourceVersion})
		}
	}
	kept := make(map[types.NamespacedName]struct{}, len(items)-objects)
	for i := range items {
		item := &items[i]
		if !item.Unchanged || item.Key.Name == "" {
			continue
		}
		unread := item.UIDHash // of an object that could not be read
		if item.ResourceVersion != "" {
			unread = 0
		}
		at, pending := s.place[item.Key]
		switch {
		case pending && (at >= before || there[at]): // an item with an object counts
		case pending:
			there[at] = true
			if newest := s.stacks[at].Newest(); newest.unread != 0 || !listwatch.OtherUID(newest.UIDHash, unread) {
				f.unreadLocked(item.Key, unread, "")
			} else {
				bury(at)
			}
		case !s.vanished(item.Key): // one that a Replace before this one did not list stays vanished
			kept[item.Key] = struct{}{}
			f.unreadLocked(item.Key, unread, "")
		}
	}
	for at, there := range there {
		if !there && !lenient {
			bury(at)
		}
	}

	if lenient && s.replaced {
		maps.Copy(s.kept, kept) // What an earlier Replace did not list stays vanished.
	} else {
		s.lenient, s.kept = lenient, kept
	}
	s.replaced = true
	s.initial = s.initial || !f.populated
	f.populated = true
	f.stats.Replaces++
	return buried
}

func tombstone[T any](lastKnown T, resourceVersion string, uidHash uint64) Delta[T] {
	return Delta[T]{Type: Deleted, FinalStateUnknown: true, Object: lastKnown, ResourceVersion: resourceVersion, UIDHash: uidHash}
}

package deltafifo

import (
	"iter"
	"maps"

	"k8s.io/apimachinery/pkg/types"
)

// Item is one object of a Replace. It has the fields of listwatch.Item, in that
// order, so that the one converts to the other.
type Item[T any] struct {
	Key             types.NamespacedName
	Object          T
	ResourceVersion string
	UIDHash         uint64

	// Unchanged says that the object is there and that there is nothing new to
	// say about it: Object is not looked at, and no delta is queued. It is meant
	// for objects of which HasVersion said so, and also serves for one that could
	// not be read, and has no ResourceVersion: what the consumer has of it stays, unless
	// that is another object, by UIDHash.
	Unchanged bool
}

// Replace queues that the objects are now these, at resourceVersion, and no
// others. All of it is part of one batch:
//
//   - Each object listed gets a Replaced delta, also if it was deleted just
//     before (DF-17), unless it is Unchanged.
//   - Each object not listed that is pending gets a Deleted with its newest
//     pending state, as a tombstone, unless it is deleted already (DF-18).
//   - Each object not listed that is only known to the consumer gets a tombstone
//     with the state that the consumer knows at the next Pop (DF-19).
//
// An item that is Unchanged and has no name stands for an object of which the name is
// not known. With one of them, what is not listed stays as it is.
//
// What is told after the Replace follows after it: an object that was not listed
// and is then added is seen to be deleted and added. If a key is listed twice,
// its last item with an object counts.
//
// A Replace without a version ("" or "0") is of a server that cannot say which state
// a list shows, and whose watch therefore begins with an Add of everything, in no
// particular order. The version of an Add then says nothing about what else has
// been told, until an Update, a Delete or a Bookmark ends that (RC-24).
//
// items is ranged over once, before the queue is locked. Replace returns
// ErrClosed, having queued nothing, after Close.
func (f *FIFO[T]) Replace(items iter.Seq[Item[T]], resourceVersion string) error {
	return f.replace(gather(items), resourceVersion)
}

// Restore is Replace for a producer that has changed its history, as a server that was
// restored from a backup: an object may differ from what was known although it has the
// same version. Each delta says so. resourceVersion may be lower than what was told
// before.
func (f *FIFO[T]) Restore(items iter.Seq[Item[T]], resourceVersion string) error {
	list := gather(items)
	for l := range list.objects.all() {
		l.delta[0].Restored = true
	}
	return f.replace(list, resourceVersion)
}

func (f *FIFO[T]) replace(list listing[T], resourceVersion string) error {
	f.mu.Lock()
	if f.closed {
		f.mu.Unlock()
		return ErrClosed
	}
	f.unordered = resourceVersion == "" || resourceVersion == "0"
	f.touchLocked(resourceVersion)
	told := f.replaceLocked(list)
	f.pending.verify()
	f.mu.Unlock()
	f.wake()

	for l := range told.all() {
		f.observer.delta(l.key, l.delta[0].Type, l.delta[0].ResourceVersion)
	}
	return nil
}

// replaceLocked puts the list on the pending shelf. It returns, for the observer if
// there is one, copies of what it has put there: once the queue is unlocked, that is
// the consumer's, or another producer's to merge with.
func (f *FIFO[T]) replaceLocked(list listing[T]) (told pages[listed[T]]) {
	s := &f.pending
	before := len(s.stacks)
	if before == 0 {
		s.reserve(list.objects.len())
	}
	there := make([]bool, before) // which of the stacks that were pending are of listed keys
	for l := range list.objects.all() {
		if f.observer != nil {
			told.add(*l)
		}
		i, pending := s.place[l.key]
		switch {
		case !pending:
			f.stats.Queued++
			s.open(l.key, l.delta[:])
		case i >= before || there[i]: // a second time in this list
			stack := s.stacks[i].Deltas
			stack[len(stack)-1] = l.delta[0]
		default:
			there[i] = true
			f.pushLocked(l.key, l.delta[0])
		}
	}

	bury := func(i int) {
		key, newest := s.stacks[i].Key, s.stacks[i].Newest()
		gone := tombstone(newest.Object, newest.ResourceVersion, newest.UIDHash)
		f.pushLocked(key, gone)
		if f.observer != nil {
			told.add(listed[T]{key, [1]Delta[T]{gone}})
		}
	}
	kept := make(map[types.NamespacedName]struct{}, list.unchanged.len())
	for u := range list.unchanged.all() {
		i, pending := s.place[u.key]
		switch {
		case pending && (i >= before || there[i]): // an item with an object counts
		case pending:
			there[i] = true
			if newest := s.stacks[i].Newest(); newest.unread != 0 || !otherUID(newest.UIDHash, u.uidHash) {
				f.unreadLocked(u.key, u.uidHash, "")
			} else {
				bury(i)
			}
		case !s.vanished(u.key): // one that a Replace before this one did not list stays vanished
			kept[u.key] = struct{}{}
			f.unreadLocked(u.key, u.uidHash, "")
		}
	}

	for i, there := range there {
		if !there && !list.lenient {
			bury(i)
		}
	}

	if list.lenient && s.replaced {
		maps.Copy(s.kept, kept) // What an earlier Replace did not list stays vanished.
	} else {
		s.lenient, s.kept = list.lenient, kept
	}
	s.replaced = true
	s.initial = s.initial || !f.populated
	f.populated = true
	f.stats.Replaces++
	return told
}

func tombstone[T any](lastKnown T, resourceVersion string, uidHash uint64) Delta[T] {
	return Delta[T]{Type: Deleted, FinalStateUnknown: true, Object: lastKnown, ResourceVersion: resourceVersion, UIDHash: uidHash}
}

// listing is the content of a Replace, gathered before the queue is locked.
type listing[T any] struct {
	objects   pages[listed[T]]
	unchanged pages[unchanged]
	lenient   bool // an object is there whose name is not known
}

// unchanged is an object of a listing of which there is nothing new to say. uidHash is
// that of an object that could not be read, and 0 for others.
type unchanged struct {
	key     types.NamespacedName
	uidHash uint64
}

// listed is one object of a listing. Its delta stays where it is and becomes the
// first of a stack.
type listed[T any] struct {
	key   types.NamespacedName
	delta [1]Delta[T]
}

func gather[T any](items iter.Seq[Item[T]]) listing[T] {
	var list listing[T]
	for item := range items {
		if item.Unchanged && item.Key.Name == "" {
			list.lenient = true
			continue
		}
		if item.Unchanged {
			if item.ResourceVersion != "" {
				item.UIDHash = 0 // It is what the consumer has.
			}
			list.unchanged.add(unchanged{item.Key, item.UIDHash})
			continue
		}
		list.objects.add(listed[T]{item.Key, [1]Delta[T]{{
			Type: Replaced, Object: item.Object, ResourceVersion: item.ResourceVersion, UIDHash: item.UIDHash,
		}}})
	}
	return list
}

package deltafifo

import (
	"iter"

	"k8s.io/apimachinery/pkg/types"
)

// Item is one object of a Replace.
type Item[T any] struct {
	Key             types.NamespacedName
	Object          T
	ResourceVersion string

	// Unchanged says that the object is there and that there is nothing new to
	// say about it: Object is not looked at, and no delta is queued. It is meant
	// for objects of which HasVersion said so, and also serves for one that could
	// not be read: what the consumer has of it stays.
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
// What is told after the Replace follows after it: an object that was not listed
// and is then added is seen to be deleted and added. If a key is listed twice,
// its last item with an object counts.
//
// items is ranged over once, before the queue is locked. Replace returns
// ErrClosed, having queued nothing, after Close.
func (f *FIFO[T]) Replace(items iter.Seq[Item[T]], resourceVersion string) error {
	list := gather(items)

	f.mu.Lock()
	if f.closed {
		f.mu.Unlock()
		return ErrClosed
	}
	f.touchLocked(resourceVersion)
	lost := f.replaceLocked(list)
	f.pending.verify()
	f.mu.Unlock()

	if f.observer != nil {
		for key, deltas := range list.all() {
			f.observer.delta(key, deltas[0].Type, deltas[0].ResourceVersion)
		}
		for _, stack := range lost {
			f.observer.delta(stack.Key, Deleted, stack.Newest().ResourceVersion)
		}
	}
	return nil
}

// replaceLocked puts the list on the pending shelf. It returns, for the observer,
// the stacks that got a tombstone.
func (f *FIFO[T]) replaceLocked(list listing[T]) (lost []Stack[T]) {
	s := &f.pending
	before := len(s.stacks)
	if before == 0 {
		s.reserve(list.size)
	}
	listed := make([]bool, before) // of the stacks that were there
	for key, deltas := range list.all() {
		i, told := s.place[key]
		switch {
		case !told:
			f.stats.Queued++
			s.open(key, deltas)
		case i >= before || listed[i]: // a second time in this list
			stack := s.stacks[i].Deltas
			stack[len(stack)-1] = deltas[0]
		default:
			listed[i] = true
			f.pushLocked(key, deltas[0])
		}
	}

	kept := make(map[types.NamespacedName]struct{}, len(list.unchanged))
	for _, key := range list.unchanged {
		i, told := s.place[key]
		switch {
		case told && i < before:
			listed[i] = true
		case !told && !s.vanished(key): // one that a Replace before this one did not list stays vanished
			kept[key] = struct{}{}
		}
	}

	for i, there := range listed {
		if newest := s.stacks[i].Newest(); !there && newest.Type != Deleted {
			f.pushLocked(s.stacks[i].Key, tombstone(newest.Object, newest.ResourceVersion))
			if f.observer != nil {
				lost = append(lost, s.stacks[i])
			}
		}
	}

	s.replaced, s.kept = true, kept
	s.initial = s.initial || !f.populated
	f.populated = true
	f.stats.Replaces++
	return lost
}

func tombstone[T any](lastKnown T, resourceVersion string) Delta[T] {
	return Delta[T]{Type: Deleted, FinalStateUnknown: true, Object: lastKnown, ResourceVersion: resourceVersion}
}

// listing is the content of a Replace, gathered into pages so that nothing is
// copied while it grows, and so that keeping one object does not keep all.
type listing[T any] struct {
	pages     []page[T]
	size      int                    // deltas in all pages
	unchanged []types.NamespacedName // keys that were listed without an object
}

// page holds keys and their deltas, side by side. The deltas stay where they are
// and become the first of their stacks.
type page[T any] struct {
	keys   []types.NamespacedName
	deltas []Delta[T]
}

func gather[T any](items iter.Seq[Item[T]]) listing[T] {
	var list listing[T]
	var last *page[T]
	for item := range items {
		if item.Unchanged {
			list.unchanged = append(list.unchanged, item.Key)
			continue
		}
		if last == nil || len(last.keys) == cap(last.keys) {
			room := min(max(list.size, 8), blockSize)
			list.pages = append(list.pages, page[T]{
				keys:   make([]types.NamespacedName, 0, room),
				deltas: make([]Delta[T], 0, room),
			})
			last = &list.pages[len(list.pages)-1]
		}
		last.keys = append(last.keys, item.Key)
		last.deltas = append(last.deltas, Delta[T]{Type: Replaced, Object: item.Object, ResourceVersion: item.ResourceVersion})
		list.size++
	}
	return list
}

// all yields each key with a slice of its delta only, whose capacity is its own.
func (l *listing[T]) all() iter.Seq2[types.NamespacedName, []Delta[T]] {
	return func(yield func(types.NamespacedName, []Delta[T]) bool) {
		for _, p := range l.pages {
			for i, key := range p.keys {
				if !yield(key, p.deltas[i:i+1:i+1]) {
					return
				}
			}
		}
	}
}

package deltafifo

import (
	"cmp"
	"iter"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/listwatch"
)

// Known is what the consumer has applied: its store. Only the consumer changes
// it, by applying batches. Get is called from any goroutine, also while a batch
// is being applied; Keys only from Pop, which is to say in the consumer's own
// goroutine while it is not applying anything. Neither is called with a lock of
// the queue held.
//
// The names are no one else's for a reason: the linker keeps every method of a
// program that has the name of one in a generic interface, and Get and Keys would
// keep much.
type Known[T any] interface {
	LastApplied(key types.NamespacedName) (obj T, resourceVersion string, uidHash uint64, ok bool)
	AllKeys() iter.Seq[types.NamespacedName]
}

// decide decides about the stacks whose beginning depends on what the consumer knows,
// and returns how many deltas it dropped. With addKnown it is all that the queue does with
// Known's objects. The first delta of such a stack is
//
//   - a state, after a Replace that did not list the key: it follows a tombstone of the object
//     that is known, if there is one;
//   - a deletion of an object, but no object is known: it is dropped (DF-6);
//   - a deletion of the object that is known: it stays as the producer told it;
//   - a deletion of an object that came after the known one: it becomes a tombstone of the
//     known one;
//   - an object that could not be read: it becomes a tombstone of the known one, if that is
//     another; if not, a Sync where there was a Resync; else it is dropped.
func (f *FIFO[T]) decide(s *shelf[T]) (dropped int) {
	for _, i := range s.doubtful {
		stack := &s.stacks[i]
		first := &stack.Deltas[0]
		obj, resourceVersion, uidHash, known := f.known.LastApplied(stack.Key)
		last := tombstone(obj, resourceVersion, uidHash)
		isOther := first.unread == inAnyCase || listwatch.OtherUID(uidHash, first.UIDHash)
		isUnread := first.unread != 0
		switch {
		case first.Type != Deleted && known:
			stack.Deltas = append([]Delta[T]{last}, stack.Deltas...)
			s.deltas++
			f.observer.delta(stack.Key, Deleted, resourceVersion)
		case first.Type != Deleted, known && !isUnread && !isOther:
			// All of it is as it was told.
		case known && isOther:
			last.ResourceVersion = cmp.Or(first.ResourceVersion, resourceVersion)
			*first = last
		case known && isUnread && s.resync && len(stack.Deltas) == 1:
			*first = Delta[T]{Type: Sync, Object: obj, ResourceVersion: resourceVersion, UIDHash: uidHash}
		default:
			stack.Deltas = stack.Deltas[1:]
			s.deltas--
			dropped++
			continue
		}
		if isUnread { // Nobody has been told of this delta yet.
			f.observer.delta(stack.Key, stack.Deltas[0].Type, stack.Deltas[0].ResourceVersion)
		}
	}
	if dropped > 0 {
		s.stacks = slices.DeleteFunc(s.stacks, func(stack Stack[T]) bool { return len(stack.Deltas) == 0 })
	}
	return dropped
}

// addKnown adds the keys that only Known has: a tombstone if a Replace did not
// list the key, else a Sync if that was asked for. The footprint is left alone,
// because it is in flight and HasVersion reads it. The shelf goes in and out by
// value, so that a Pop that does not come here allocates nothing for it.
func (f *FIFO[T]) addKnown(s shelf[T]) shelf[T] {
	var keys pages[types.NamespacedName]
	for key := range f.known.AllKeys() {
		if _, told := s.place[key]; !told && (s.resync || s.vanished(key)) {
			keys.add(key)
		}
	}
	s.stacks = slices.Grow(s.stacks, keys.len())
	for key := range keys.all() {
		obj, resourceVersion, uidHash, ok := f.known.LastApplied(*key)
		if !ok {
			continue
		}
		d := Delta[T]{Type: Sync, Object: obj, ResourceVersion: resourceVersion, UIDHash: uidHash}
		if s.vanished(*key) {
			d = tombstone(obj, resourceVersion, uidHash)
		}
		f.observer.delta(*key, d.Type, resourceVersion)
		s.stacks = append(s.stacks, Stack[T]{Key: *key, Deltas: s.alone(d, 1)})
		s.deltas++
	}
	return s
}

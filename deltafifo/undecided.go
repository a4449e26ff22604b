package deltafifo

import (
	"cmp"
	"iter"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/listwatch"
)

// Known is the store of the consumer: the objects that it has applied. Only the consumer changes
// it, by applying batches. LastApplied may be called from any goroutine, also while the consumer
// applies a batch. AllKeys is called only by Pop, and so while no batch is being applied. The queue
// holds no lock when it calls these methods.
//
// The method names are unusual, because the linker keeps every method whose name is in a generic
// interface. With the names Get and Keys, it would keep many methods of a program.
type Known[T any] interface {
	LastApplied(key types.NamespacedName) (obj T, resourceVersion string, uidHash uint64, ok bool)
	AllKeys() iter.Seq[types.NamespacedName]
}

// resolveUndecided handles the stacks whose first delta depends on Known, and returns how many
// deltas it dropped. The first delta of such a stack is one of these:
//
//   - A state, after a Replace that did not list the key. If Known has an object with this key,
//     resolveUndecided puts its tombstone before the state.
//   - A deletion, but Known has no object with this key: resolveUndecided drops it (DF-6).
//   - A deletion of the known object: it stays as it is.
//   - A deletion of an object that came after the known object: it becomes a tombstone of the known
//     object.
//   - An undecodable object: it becomes a tombstone of the known object if the two are different
//     objects. Otherwise it becomes a Sync if there was a Resync, and else resolveUndecided drops
//     it.
func (f *FIFO[T]) resolveUndecided(s *pendingDeltas[T]) (dropped int) {
	for _, i := range s.undecided {
		stack := &s.stacks[i]
		first := &stack.Deltas[0]
		obj, resourceVersion, uidHash, known := f.known.LastApplied(stack.Key)
		lastKnown := tombstone(obj, resourceVersion, uidHash)
		isOtherObject := first.replacesKnown == ifAnyUID || listwatch.OtherUID(uidHash, first.UIDHash)
		isUndecodable := first.replacesKnown != 0
		switch {
		case first.Type != Deleted && known:
			stack.Deltas = append([]Delta[T]{lastKnown}, stack.Deltas...)
			s.deltas++
			f.observer.delta(stack.Key, Deleted, resourceVersion)
		case first.Type != Deleted, known && !isUndecodable && !isOtherObject:
			// All deltas stay as the producer reported them.
		case known && isOtherObject:
			lastKnown.ResourceVersion = cmp.Or(first.ResourceVersion, resourceVersion)
			*first = lastKnown
		case known && isUndecodable && s.resync && len(stack.Deltas) == 1:
			*first = Delta[T]{Type: Sync, Object: obj, ResourceVersion: resourceVersion, UIDHash: uidHash}
		default:
			stack.Deltas = stack.Deltas[1:]
			s.deltas--
			dropped++
			continue
		}
		if isUndecodable { // the observer has not been notified of this delta yet
			f.observer.delta(stack.Key, stack.Deltas[0].Type, stack.Deltas[0].ResourceVersion)
		}
	}
	if dropped > 0 {
		s.stacks = slices.DeleteFunc(s.stacks, func(stack Stack[T]) bool { return len(stack.Deltas) == 0 })
	}
	return dropped
}

// addKnown adds stacks for keys that only Known has. If a Replace did not list the key, the stack
// is a tombstone. Otherwise it is a Sync, if there was a Resync. It does not change the footprint,
// because HasVersion reads the footprint of the batch in flight. s is passed by value, so that a
// Pop without addKnown does not allocate it.
func (f *FIFO[T]) addKnown(s pendingDeltas[T]) pendingDeltas[T] {
	var keys pages[types.NamespacedName]
	for key := range f.known.AllKeys() {
		if _, pending := s.stackIndex[key]; !pending && (s.resync || s.vanished(key)) {
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
		s.stacks = append(s.stacks, Stack[T]{Key: *key, Deltas: s.singleDelta(d, 1)})
		s.deltas++
	}
	return s
}

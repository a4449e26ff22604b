package deltafifo

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/internal/invariant"
)

// pendingDeltas has all deltas since the last Pop, in one stack for each key. Pop takes the whole
// value, and leaves an empty one: the slice of stacks becomes the batch. plain/deltafifo.go has a
// map of stacks and a slice of keys instead, and pops one key at a time.
type pendingDeltas[T any] struct {
	footprint

	stacks  []Stack[T] // in order of each key's first delta
	deltas  int        // in all stacks
	deletes int        // number of Deleted since the last sweep
	since   time.Time  // the time of the oldest delta; zero if nothing is pending

	// undecided has the indices of the stacks whose first delta depends on Known. Pop decides about
	// these deltas; see FIFO.resolveUndecided. The first delta of such a stack is a Deleted, or
	// came after a Replace that did not list the key.
	undecided []int

	initial bool // the first Replace of the queue is pending
	resync  bool

	// free is the unused rest of a page of deltas, from which new stacks get their slices.
	free []Delta[T]
}

// footprint records which keys the pending deltas change. It has no objects, so the queue can keep
// the footprint of the batch in flight without keeping the objects.
type footprint struct {
	stackIndex map[types.NamespacedName]int // the index of the key's stack in stacks

	// replaced is true if there was a Replace. The set kept has the keys that this Replace listed
	// as unchanged, and that had no stack at that time.
	replaced bool
	kept     map[types.NamespacedName]struct{}

	// keepMissing is true if no key has vanished: the Replace had an object without a name, which
	// may be any object.
	keepMissing bool
}

// vanished reports whether a Replace did not list a key, so that the consumer has to delete the
// key's object if it has one. It is valid only for a key that has no stack.
func (p *footprint) vanished(key types.NamespacedName) bool {
	if !p.replaced || p.keepMissing {
		return false
	}
	_, kept := p.kept[key]
	return !kept
}

// touches reports whether the pending deltas change, or may change, the state of a key.
func (p *footprint) touches(key types.NamespacedName) bool {
	_, pending := p.stackIndex[key]
	return pending || p.vanished(key)
}

func (s *pendingDeltas[T]) empty() bool { return s.since.IsZero() }

// reserve allocates memory for n stacks. There must be no stacks yet.
func (s *pendingDeltas[T]) reserve(n int) {
	s.stacks = make([]Stack[T], 0, n)
	if s.stackIndex == nil || n > maxReuse {
		s.stackIndex = make(map[types.NamespacedName]int, n)
	}
}

// addStack adds a stack for key. deltas becomes the slice of the stack, so no other slice may share
// its capacity.
func (s *pendingDeltas[T]) addStack(key types.NamespacedName, deltas []Delta[T]) {
	if s.stackIndex == nil {
		s.stackIndex = make(map[types.NamespacedName]int)
	}
	if deltas[0].Type == Deleted || s.vanished(key) {
		s.undecided = append(s.undecided, len(s.stacks))
	}
	s.stackIndex[key] = len(s.stacks)
	s.stacks = append(s.stacks, Stack[T]{Key: key, Deltas: deltas})
	s.deltas += len(deltas)
}

// singleDelta returns a slice with the delta d. n is the number of such slices that the caller
// needs, this one included. The slices are cut from pages, because most stacks never have more than
// one delta. Pages grow with the number of stacks, but stay small, because a consumer that keeps
// one stack keeps its whole page in memory.
func (s *pendingDeltas[T]) singleDelta(d Delta[T], n int) []Delta[T] {
	if len(s.free) == 0 {
		s.free = make([]Delta[T], max(min(len(s.stacks)+1, 64), min(n, pageSize)))
	}
	deltas := s.free[:1:1]
	s.free = s.free[1:]
	deltas[0] = d
	return deltas
}

// verify checks that stackIndex has a key if and only if the key has a stack with deltas (DF-1).
func (s *pendingDeltas[T]) verify() {
	if !invariant.Enabled {
		return
	}
	invariant.Check(len(s.stackIndex) == len(s.stacks), "%d keys have an index, but there are %d stacks", len(s.stackIndex), len(s.stacks))
	deltas := 0
	for i, stack := range s.stacks {
		place, ok := s.stackIndex[stack.Key]
		invariant.Check(ok && place == i, "the stack of %s is at index %d, but its recorded index is %d (recorded: %t)", stack.Key, i, place, ok)
		invariant.Check(len(stack.Deltas) > 0, "the stack of %s has no deltas", stack.Key)
		deltas += len(stack.Deltas)
	}
	invariant.Check(deltas == s.deltas, "the count of deltas is %d, but the stacks hold %d", s.deltas, deltas)
	invariant.Check(len(s.stacks) == 0 || !s.empty(), "there are pending stacks, but empty reports that nothing is pending")
}

package deltafifo

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/internal/invariant"
)

// shelf has all deltas since the last Pop. Pop takes down the whole shelf, and puts up an empty
// one. plain/deltafifo.go has a map of stacks and a slice of keys instead, and takes one key after
// another. Here, the slice of stacks becomes the batch.
type shelf[T any] struct {
	footprint

	stacks []Stack[T] // in order of each key's first delta
	deltas int        // in all stacks
	deaths int        // Deleted since the last sweep
	since  time.Time  // the time of the oldest delta, zero while the shelf is empty

	// doubtful lists the stacks, by position, whose first delta depends on the content of Known
	// when Pop takes the shelf. Such a delta is a Deleted, or came after a Replace that did not
	// list the key. See FIFO.decide.
	doubtful []int

	initial bool // the first Replace of the queue is here
	resync  bool

	// free is the rest of a page of deltas from which new stacks are cut.
	free []Delta[T]
}

// footprint says which keys a shelf changes. It has no objects, so that the queue can keep it
// for the batch in flight.
type footprint struct {
	place map[types.NamespacedName]int // where the key's stack is in stacks

	// replaced says that there was a Replace. kept has the keys that it listed as unchanged and
	// that had no stack at that time.
	replaced bool
	kept     map[types.NamespacedName]struct{}

	// lenient says that keys stay although a Replace has not listed them, because it did not have
	// the names of all objects.
	lenient bool
}

// vanished reports whether a Replace did not list a key, so that the consumer has to delete the
// key's object if it has one. The key must have no stack.
func (p *footprint) vanished(key types.NamespacedName) bool {
	if !p.replaced || p.lenient {
		return false
	}
	_, kept := p.kept[key]
	return !kept
}

// touches reports whether the shelf changes, or may change, the state of a key.
func (p *footprint) touches(key types.NamespacedName) bool {
	_, told := p.place[key]
	return told || p.vanished(key)
}

func (s *shelf[T]) empty() bool { return s.since.IsZero() }

// reserve makes room for n stacks on an empty shelf.
func (s *shelf[T]) reserve(n int) {
	s.stacks = make([]Stack[T], 0, n)
	if s.place == nil || n > maxSpare {
		s.place = make(map[types.NamespacedName]int, n)
	}
}

// open puts up a new stack for key. deltas becomes the stack's slice, and must not share its
// capacity.
func (s *shelf[T]) open(key types.NamespacedName, deltas []Delta[T]) {
	if s.place == nil {
		s.place = make(map[types.NamespacedName]int)
	}
	if deltas[0].Type == Deleted || s.vanished(key) {
		s.doubtful = append(s.doubtful, len(s.stacks))
	}
	s.place[key] = len(s.stacks)
	s.stacks = append(s.stacks, Stack[T]{Key: key, Deltas: deltas})
	s.deltas += len(deltas)
}

// alone returns a slice with d, the first of n such slices. The slices are parts of pages, because
// most stacks never have more than one delta. Pages grow with the shelf, but stay small, because a
// consumer that keeps one stack keeps its whole page.
func (s *shelf[T]) alone(d Delta[T], n int) []Delta[T] {
	if len(s.free) == 0 {
		s.free = make([]Delta[T], max(min(len(s.stacks)+1, 64), min(n, pageSize)))
	}
	deltas := s.free[:1:1]
	s.free = s.free[1:]
	deltas[0] = d
	return deltas
}

// verify checks that a key has a place if and only if it has a stack with deltas (DF-1).
func (s *shelf[T]) verify() {
	if !invariant.Enabled {
		return
	}
	invariant.Check(len(s.place) == len(s.stacks), "%d keys have a place, there are %d stacks", len(s.place), len(s.stacks))
	deltas := 0
	for i, stack := range s.stacks {
		place, ok := s.place[stack.Key]
		invariant.Check(ok && place == i, "the stack of %s is at %d, its place is %d (%t)", stack.Key, i, place, ok)
		invariant.Check(len(stack.Deltas) > 0, "the stack of %s has no deltas", stack.Key)
		deltas += len(stack.Deltas)
	}
	invariant.Check(deltas == s.deltas, "%d deltas are counted, there are %d", s.deltas, deltas)
	invariant.Check(len(s.stacks) == 0 || !s.empty(), "there are stacks on a shelf that counts as empty")
}

package deltafifo

import "k8s.io/apimachinery/pkg/types"

// sweep removes keys whose objects were created and deleted without reaching the consumer. So names
// that are used once do not accumulate while the consumer is slow. sweep reads Known without the
// lock: a key that is neither known nor in flight stays unknown until the next Pop.
func (f *FIFO[T]) sweep() {
	gone := make(map[types.NamespacedName]bool)
	f.mu.Lock()
	taken := f.popped
	s := &f.pending
	s.deletes = 0
	for i := range s.stacks {
		if stack := &s.stacks[i]; stack.isGone() {
			gone[stack.Key] = !f.inFlight.touches(stack.Key)
		}
	}
	f.mu.Unlock()

	for key := range gone {
		if _, _, _, known := f.known.LastApplied(key); known {
			gone[key] = false
		}
	}

	f.mu.Lock()
	defer f.mu.Unlock()
	if f.popped != taken {
		return
	}
	stacks, undecided := s.stacks[:0], s.undecided[:0]
	for i := range s.stacks {
		stack := &s.stacks[i]
		isUndecided := len(s.undecided) > 0 && s.undecided[0] == i
		if isUndecided {
			s.undecided = s.undecided[1:]
		}
		if gone[stack.Key] && stack.isGone() {
			s.deltas -= len(stack.Deltas)
			f.stats.Merged += uint64(len(stack.Deltas))
			clear(stack.Deltas) // other stacks may keep the page of these deltas
			delete(s.stackIndex, stack.Key)
			continue
		}
		if isUndecided {
			undecided = append(undecided, len(stacks))
		}
		s.stackIndex[stack.Key] = len(stacks)
		stacks = append(stacks, *stack)
	}
	clear(s.stacks[len(stacks):])
	s.stacks, s.undecided = stacks, undecided
	s.verify()
}

func (s *Stack[T]) isGone() bool { return s.Deltas[len(s.Deltas)-1].Type == Deleted }

package deltafifo

import "k8s.io/apimachinery/pkg/types"

// sweep removes keys whose objects were created and deleted without reaching the consumer. So names
// that are used once do not accumulate while the consumer is slow. sweep reads Known without the
// lock: a key that is neither known nor in flight stays unknown until the next Pop takes the shelf.
func (f *FIFO[T]) sweep() {
	gone := make(map[types.NamespacedName]bool)
	f.mu.Lock()
	taken := f.taken
	s := &f.pending
	s.deaths = 0
	for i := range s.stacks {
		if stack := &s.stacks[i]; stack.isGone() {
			gone[stack.Key] = !f.flight.touches(stack.Key)
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
	if f.taken != taken {
		return
	}
	stacks, doubtful := s.stacks[:0], s.doubtful[:0]
	for i := range s.stacks {
		stack := &s.stacks[i]
		isDoubtful := len(s.doubtful) > 0 && s.doubtful[0] == i
		if isDoubtful {
			s.doubtful = s.doubtful[1:]
		}
		if gone[stack.Key] && stack.isGone() {
			s.deltas -= len(stack.Deltas)
			f.stats.Merged += uint64(len(stack.Deltas))
			clear(stack.Deltas) // other stacks may keep the page of these deltas
			delete(s.place, stack.Key)
			continue
		}
		if isDoubtful {
			doubtful = append(doubtful, len(stacks))
		}
		s.place[stack.Key] = len(stacks)
		stacks = append(stacks, *stack)
	}
	clear(s.stacks[len(stacks):])
	s.stacks, s.doubtful = stacks, doubtful
	s.verify()
}

func (s *Stack[T]) isGone() bool { return s.Deltas[len(s.Deltas)-1].Type == Deleted }

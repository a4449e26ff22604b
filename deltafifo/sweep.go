package deltafifo

import "k8s.io/apimachinery/pkg/types"

// sweep forgets the keys that came and went without the consumer having heard of
// them, so that names that are used once don't pile up while nobody pops. It reads
// Known without the lock, and may: a key that is neither known nor in the batch in
// flight stays unknown until the next shelf is taken down.
func (f *FIFO[T]) sweep() {
	f.mu.Lock()
	taken := f.taken
	f.pending.deaths = 0
	var gone []types.NamespacedName
	for _, stack := range f.pending.stacks {
		if stack.Newest().Type == Deleted && !f.flight.touches(stack.Key) {
			gone = append(gone, stack.Key)
		}
	}
	f.mu.Unlock()

	unknown := gone[:0]
	for _, key := range gone {
		if _, _, known := f.known.LastApplied(key); !known {
			unknown = append(unknown, key)
		}
	}

	f.mu.Lock()
	defer f.mu.Unlock()
	if f.taken == taken {
		f.stats.Merged += uint64(f.pending.forget(unknown))
		f.pending.verify()
	}
}

// forget removes those keys whose objects are deleted still. It returns how many
// deltas that were.
func (s *shelf[T]) forget(keys []types.NamespacedName) (lost int) {
	for _, key := range keys {
		if i, told := s.place[key]; told && s.stacks[i].Newest().Type == Deleted {
			lost += len(s.stacks[i].Deltas)
			clear(s.stacks[i].Deltas)
			s.stacks[i].Deltas = nil
			delete(s.place, key)
		}
	}
	stacks, doubtful := s.stacks, s.doubtful
	s.stacks, s.doubtful, s.free = nil, nil, nil
	s.deltas -= lost
	for i, stack := range stacks {
		isDoubtful := len(doubtful) > 0 && doubtful[0] == i
		if isDoubtful {
			doubtful = doubtful[1:]
		}
		if stack.Deltas == nil {
			continue
		}
		if isDoubtful {
			s.doubtful = append(s.doubtful, len(s.stacks))
		}
		if cap(stack.Deltas) == 1 { // It may be the last one on a page of many.
			stack.Deltas = s.alone(stack.Deltas[0])
		}
		s.place[stack.Key] = len(s.stacks)
		s.stacks = append(s.stacks, stack)
	}
	return lost
}

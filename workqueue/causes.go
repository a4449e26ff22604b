package workqueue

// Causes says why a key runs: the first and the last cause that its adds named, and the number of
// adds since its previous run, including adds without a cause.
type Causes struct {
	First, Last string
	Count       int
}

// causePair is an immutable pair of causes.
type causePair struct{ first, last string }

// causes returns the causes of the run in the form that the program gets.
func (t run) causes() Causes {
	if t.causePair == nil {
		return Causes{Count: int(t.adds)}
	}
	return Causes{First: t.causePair.first, Last: t.causePair.last, Count: int(t.adds)}
}

// causeTable caches recent pairs, so that entries share them: there are few kinds of causes, and
// most adds have a cause.
type causeTable struct {
	recent [16]*causePair
	next   int // the pair that is replaced next
}

// pairOf returns the pair for an add with this cause.
func (s *causeTable) pairOf(cause string) *causePair {
	if cause == "" {
		return nil
	}
	return s.intern(cause, cause)
}

// merge merges a later add into the pending run.
func (s *causeTable) merge(pending *run, added run) {
	pending.priority = max(pending.priority, added.priority)
	pending.adds += added.adds
	switch {
	case added.causePair == nil || added.causePair == pending.causePair:
	case pending.causePair == nil:
		pending.causePair = added.causePair
	default:
		pending.causePair = s.intern(pending.causePair.first, added.causePair.last)
	}
}

func (s *causeTable) intern(first, last string) *causePair {
	for _, w := range s.recent {
		if w != nil && w.first == first && w.last == last {
			return w
		}
	}
	made := &causePair{first: first, last: last}
	s.recent[s.next] = made
	s.next = (s.next + 1) % len(s.recent)
	return made
}

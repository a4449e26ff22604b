package workqueue

// Causes says why a key runs: the first and the last cause that its adds named, and the number of
// adds since its previous run, including adds without a cause.
type Causes struct {
	First, Last string
	Count       int
}

// why is an immutable pair of causes.
type why struct{ first, last string }

// causes returns the causes of the run in the form that the program gets.
func (t turn) causes() Causes {
	if t.why == nil {
		return Causes{Count: int(t.adds)}
	}
	return Causes{First: t.why.first, Last: t.why.last, Count: int(t.adds)}
}

// whys caches recent pairs, so that entries share them: there are few kinds of causes, and most
// adds have a cause.
type whys struct {
	recent [16]*why
	next   int // the pair that is replaced next
}

// one returns the pair for an add with this cause.
func (s *whys) one(cause string) *why {
	if cause == "" {
		return nil
	}
	return s.pair(cause, cause)
}

// merge merges a later add into the pending run.
func (s *whys) merge(due *turn, later turn) {
	due.priority = max(due.priority, later.priority)
	due.adds += later.adds
	switch {
	case later.why == nil || later.why == due.why:
	case due.why == nil:
		due.why = later.why
	default:
		due.why = s.pair(due.why.first, later.why.last)
	}
}

func (s *whys) pair(first, last string) *why {
	for _, w := range s.recent {
		if w != nil && w.first == first && w.last == last {
			return w
		}
	}
	made := &why{first: first, last: last}
	s.recent[s.next] = made
	s.next = (s.next + 1) % len(s.recent)
	return made
}

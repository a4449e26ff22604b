package workqueue

// Causes says why a key has a turn: the first and the last of the causes that
// its adds named, and how many adds there were since its turn before, those
// included that named none.
type Causes struct {
	First, Last string
	Count       int
}

// why is a pair of causes, which never changes.
type why struct{ first, last string }

// causes returns what users are told of the work.
func (w work) causes() Causes {
	if w.why == nil {
		return Causes{Count: int(w.adds)}
	}
	return Causes{First: w.why.first, Last: w.why.last, Count: int(w.adds)}
}

// whys are the pairs that were seen lately, so that entries can share them: there
// are few kinds of causes, and most adds have one.
type whys struct {
	known [16]*why
	next  int // which one is forgotten next
}

// one returns the why of an add with this cause.
func (s *whys) one(cause string) *why {
	if cause == "" {
		return nil
	}
	return s.pair(cause, cause)
}

// merge adds later work to what is due already.
func (s *whys) merge(due *work, later work) {
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
	for _, known := range s.known {
		if known != nil && known.first == first && known.last == last {
			return known
		}
	}
	made := &why{first: first, last: last}
	s.known[s.next] = made
	s.next = (s.next + 1) % len(s.known)
	return made
}

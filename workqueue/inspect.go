package workqueue

import (
	"cmp"
	"slices"
	"time"
)

// KeyState is all that a queue knows of one key. A time is zero where it does not
// apply. Started and ReadySince are zero too where no times are kept: see Options.Timed.
type KeyState[K comparable] struct {
	Key   K
	Group string // by Options.Group

	// Processing says that the key is with a worker, since Started. Dirty says that
	// a turn is due on it which has not begun, and Ready that nothing keeps it from
	// being handed out, since ReadySince. A dirty key is not ready while a worker has
	// it, while it is Parked, and, by MinInterval, until Cooling.
	Processing, Dirty, Ready, Parked bool
	Started, ReadySince, Cooling     time.Time

	// Until is when the key is to be added that is delayed.
	Until time.Time

	// Priority and Causes are those of the turn that is due, or else the one that
	// the key is in, or else the delayed one.
	Priority int
	Causes   Causes

	// Retries is how often in a row the key has failed, by the rate limiter.
	Retries int
}

// Lookup returns the state of the key; ok is false if the queue does not know the key.
// A worker learns from it why it has the key: while there is no further add, the
// causes are those of its turn.
func (q *Queue[K]) Lookup(key K) (state KeyState[K], ok bool) {
	hash := q.hash(key)
	q.mu.Lock()
	e := q.entries.find(key, hash)
	if e != nil {
		state = q.stateLocked(e)
	}
	q.mu.Unlock()

	if e == nil {
		return state, false
	}
	state.Retries = q.NumRequeues(key)
	return state, true
}

// Inspect returns the state of every key: first those that are with
// workers, for longest first; then those that are ready, by priority, for longest
// first; then those that wait, parked ones first, the others by their times. Of
// ready keys whose times are not kept, the order within a priority is none. The
// slice is the caller's. It takes the queue's lock while it visits all keys, a
// millisecond for some ten thousand.
func (q *Queue[K]) Inspect() []KeyState[K] {
	states := q.states()
	for i := range states {
		states[i].Retries = q.NumRequeues(states[i].Key)
	}
	slices.SortFunc(states, func(a, b KeyState[K]) int {
		return cmp.Or(
			cmp.Compare(a.stage(), b.stage()),
			a.Started.Compare(b.Started),
			a.waitsUntil().Compare(b.waitsUntil()),
			cmp.Compare(b.Priority, a.Priority),
			a.ReadySince.Compare(b.ReadySince),
		)
	})
	return states
}

func (s *KeyState[K]) stage() int {
	switch {
	case s.Processing:
		return 0
	case s.Ready:
		return 1
	}
	return 2
}

// waitsUntil returns when a key is due that is neither ready nor with a worker; zero
// if only the end of a Park tells.
func (s *KeyState[K]) waitsUntil() time.Time {
	switch {
	case s.stage() < 2:
		return time.Time{}
	case s.Dirty || s.Until.IsZero():
		return s.Cooling
	}
	return s.Until
}

func (q *Queue[K]) states() []KeyState[K] {
	q.mu.Lock()
	defer q.mu.Unlock()
	states := make([]KeyState[K], 0, q.entries.len)
	for e := range q.entries.all {
		states = append(states, q.stateLocked(e))
	}
	return states
}

func (q *Queue[K]) stateLocked(e *entry[K]) KeyState[K] {
	s := KeyState[K]{
		Key:        e.key,
		Group:      e.group,
		Processing: e.processing,
		Dirty:      e.dirty,
		Ready:      e.ready(),
		Parked:     e.parked > 0,
	}
	var t turn
	switch {
	case e.dirty:
		t = e.due
	case e.processing:
		t = e.running
	case e.delayed():
		t = e.later
	}
	s.Priority, s.Causes = int(t.priority), t.causes()
	if e.processing && q.timed {
		s.Started = q.epoch.Add(e.since)
	}
	if s.Ready && q.timed {
		s.ReadySince = q.epoch.Add(e.since)
	}
	if e.cool > 0 {
		s.Cooling = q.epoch.Add(e.cool)
	}
	if e.delayed() {
		s.Until = q.epoch.Add(e.laterAt)
	}
	return s
}

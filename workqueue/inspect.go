package workqueue

import (
	"cmp"
	"slices"
	"time"
)

// KeyState is the queue's state of one key. A time that does not apply is zero. Started and
// ReadySince are also zero if times are not kept: see Options.Timed.
type KeyState[K comparable] struct {
	Key   K
	Group string // by Options.Group

	// Processing says that the key is with a worker, since Started. Dirty says that a run is
	// pending, and Ready that the key can be handed out, since ReadySince. A dirty key is not ready
	// while a worker has it, while it is Parked, and before the time Cooling (because of
	// MinInterval).
	Processing, Dirty, Ready, Parked bool
	Started, ReadySince, Cooling     time.Time

	// Until is when a delayed key is added.
	Until time.Time

	// Priority and Causes belong to the pending run, or else to the current run, or else to the
	// delay.
	Priority int
	Causes   Causes

	// Retries is the number of consecutive failures of the key, according to the rate limiter.
	Retries int
}

// Lookup returns the state of the key; ok is false if the queue does not have the key. A worker can
// use Lookup to read why it has the key: unless the key was added again, the causes are those of
// its run.
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

// Inspect returns the state of every key. First come the keys with workers, longest first; then the
// ready keys by priority, longest first; then the waiting keys, parked keys first and delayed keys
// by time. If times are not kept, ready keys of one priority are in no particular order. The slice
// belongs to the caller. Inspect holds the queue's lock while it visits all keys: about a
// millisecond for ten thousand keys.
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

// waitsUntil returns when a key is due that is neither ready nor with a worker. It returns zero if
// only Park holds the key back.
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
	var t run
	switch {
	case e.dirty:
		t = e.pending
	case e.processing:
		t = e.running
	case e.delayed():
		t = e.delayedRun
	}
	s.Priority, s.Causes = int(t.priority), t.causes()
	if e.processing && q.timed {
		s.Started = q.epoch.Add(e.since)
	}
	if s.Ready && q.timed {
		s.ReadySince = q.epoch.Add(e.since)
	}
	if e.coolUntil > 0 {
		s.Cooling = q.epoch.Add(e.coolUntil)
	}
	if e.delayed() {
		s.Until = q.epoch.Add(e.delayedUntil)
	}
	return s
}

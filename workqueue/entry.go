package workqueue

import (
	"hash/maphash"
	"math"
	"time"
)

// entry is the queue's state of one key. Times are durations since the queue's epoch: a third of
// the size of a time.Time, and cheaper to read.
//
// Each of its three parts is one cache line for keys of two strings (BenchmarkMerged,
// BenchmarkCycle).
type entry[K comparable] struct {
	// An add of a dirty key reads these fields.
	key        K
	hash       uint32
	parked     int32 // waits of Park that hold the key back
	dirty      bool
	processing bool
	span       uint8 // the span of its alarm, see alarms; 0 if it has none
	weight     int32 // weight of its group; 0 without groups
	pending    run   // if dirty

	// A run uses these fields as well. An entry is in at most one fifo: of a groupQueue if the key
	// is ready, or of Queue.processing.
	prev, next *entry[K]
	groupQueue *groupQueue[K] // while ready
	running    run            // if processing
	added      time.Duration  // when it became dirty; 0 if times are not kept
	since      time.Duration  // when it became ready or was handed out; 0 if times are not kept
	coolUntil  time.Duration  // when MinInterval allows its next run; 0 if a run is allowed now

	// These fields are used for keys that are delayed, in their MinInterval, or in a group.
	delayedUntil time.Duration // when delayedRun is added; 0 if never
	delayedRun   run
	alarm        alarm[K]
	group        string // by Options.Group
}

// ready reports whether the key can be handed out.
func (e *entry[K]) ready() bool { return e.groupQueue != nil }

// heldBack reports whether Park or MinInterval keep the key from being ready.
func (e *entry[K]) heldBack() bool { return e.parked > 0 || e.coolUntil > 0 }

// delayed reports whether the key has a delay.
func (e *entry[K]) delayed() bool { return e.delayedUntil > 0 }

// idle reports whether the entry can be dropped.
func (e *entry[K]) idle() bool {
	return !e.dirty && !e.processing && e.span == 0 && e.parked == 0
}

// clear resets an idle entry, whose fields are mostly zero already.
func (e *entry[K]) clear() {
	var none K
	e.key, e.hash = none, 0
	e.added, e.since, e.coolUntil = 0, 0, 0
	e.pending, e.running = run{}, run{}
	if e.weight > 0 { // without a write to the third part, this costs half (BenchmarkCycle)
		e.group, e.weight = "", 0
	}
}

// fifo is a list of entries, linked through the entries themselves. Adding and removing allocate
// nothing, and a removed entry is not reachable from the list.
type fifo[K comparable] struct {
	first, last *entry[K]
	len         int
}

// push appends an entry that is in no fifo.
func (f *fifo[K]) push(e *entry[K]) {
	e.prev = f.last
	if f.last == nil {
		f.first = e
	} else {
		f.last.next = e
	}
	f.last = e
	f.len++
}

// remove removes an entry that is in this fifo.
func (f *fifo[K]) remove(e *entry[K]) {
	if e.prev == nil {
		f.first = e.next
	} else {
		e.prev.next = e.next
	}
	if e.next == nil {
		f.last = e.prev
	} else {
		e.next.prev = e.prev
	}
	e.prev, e.next = nil, nil
	f.len--
}

// run is a pending or running run of a key: its priority, the number of adds, and the causes.
type run struct {
	priority  int32
	adds      uint32
	causePair *causePair // nil if no add had a cause
}

// clamp converts a priority to the type of run.priority.
func clamp(priority int) int32 { return int32(min(max(priority, math.MinInt32), math.MaxInt32)) }

// hash returns the hash of the key. It panics if K is an interface and the key is not hashable. It
// needs no lock.
func (q *Queue[K]) hash(key K) uint32 { return uint32(maphash.Comparable(q.seed, key)) }

// getOrInsertLocked returns the entry of the key, and makes a new one if necessary.
func (q *Queue[K]) getOrInsertLocked(key K, hash uint32, g group) *entry[K] {
	e := q.entries.find(key, hash)
	if e == nil {
		e = q.insertLocked(key, hash, g)
	}
	return e
}

// insertLocked makes an entry for a key that has none.
func (q *Queue[K]) insertLocked(key K, hash uint32, g group) *entry[K] {
	e := q.entries.insert(key, hash)
	if g.weight > 0 {
		e.group, e.weight = g.name, g.weight
	}
	return e
}

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

package workqueue

import (
	"maps"
	"time"
)

// entry is what the queue knows of one key. Times are durations since the
// queue's epoch: a third of the size of a time.Time, and cheaper to read.
type entry[K comparable] struct {
	key K

	dirty      bool
	processing bool

	added   time.Duration // when it became dirty
	readied time.Duration // when it became ready
	started time.Duration // when it was handed out

	// An entry is in at most one fifo: ready or processing.
	prev, next *entry[K]

	due  time.Duration // when it is to be added, while delayed
	seq  uint64        // orders entries that are due at the same time
	slot int           // place in the delay heap, 0 when not delayed
}

// idle reports that there is no reason to keep the entry.
func (e *entry[K]) idle() bool { return !e.dirty && !e.processing && e.slot == 0 }

const (
	// maxSpares bounds how many unused entries are kept for later keys, so that a
	// queue in its stride does not allocate.
	maxSpares = 256

	// A container that once held more than roomy elements is replaced by a
	// smaller one when only a sparse-th of them is left. Go's maps and slices
	// never shrink by themselves, and the initial sync of a large cluster would
	// otherwise be paid for as long as the process lives.
	roomy  = 1024
	sparse = 32
)

// entries holds the entry of each key that is dirty, processing or delayed.
type entries[K comparable] struct {
	byKey map[K]*entry[K]
	peak  int // largest len(byKey) since byKey was made

	spare  *entry[K] // unused entries, linked by next
	spares int
}

// obtain returns the entry of the key, and makes it if there is none. It panics
// if K is an interface and the key is not hashable; nothing has changed then.
func (t *entries[K]) obtain(key K) *entry[K] {
	if e := t.byKey[key]; e != nil {
		return e
	}
	e := t.spare
	if e == nil {
		e = new(entry[K])
	} else {
		t.spare = e.next
		t.spares--
	}
	*e = entry[K]{key: key}
	t.byKey[key] = e
	t.peak = max(t.peak, len(t.byKey))
	return e
}

// release forgets the entry if it is idle, and does not keep its key (WQ-7).
func (t *entries[K]) release(e *entry[K]) {
	if !e.idle() {
		return
	}
	delete(t.byKey, e.key)
	if t.peak > roomy && len(t.byKey) <= t.peak/sparse {
		smaller := make(map[K]*entry[K], len(t.byKey))
		maps.Copy(smaller, t.byKey)
		t.byKey, t.peak = smaller, len(smaller)
	}
	*e = entry[K]{}
	if t.spares < maxSpares {
		e.next = t.spare
		t.spare = e
		t.spares++
	}
}

package indexer

import (
	"sync/atomic"

	"k8s.io/apimachinery/pkg/types"
)

// table finds records by key: open addressing with linear probing. Any number of
// readers may look while the one writer changes it, without a lock.
//
// A slot is filled once, and later marked as removed, but its record never moves.
// What outgrows its array gets a new one; readers of the old one find in it what
// they would have found when they began.
type table struct {
	array atomic.Pointer[slots]

	// Only the writer looks at these: how many slots are not empty, and how many
	// of them hold a record.
	used, live int
}

type slots struct {
	mask  uint64
	slots []slot
}

// slot is empty, removed, or holds a record whose key has that hash. It has the
// newest version, too, so that a processor can fetch both from memory at once.
type slot struct {
	hash   atomic.Uint64
	record atomic.Pointer[record]
	head   atomic.Pointer[version]
}

// These are no hashes, see usable.
const empty, removed = 0, 1

const smallestTable = 8

// usable makes a hash one that no mark is equal to.
func usable(hash uint64) uint64 {
	if hash <= removed {
		return hash + 2
	}
	return hash
}

// find returns the slot of a key, and its record, or nil. The newest version is
// that of the slot, but where the record has been removed just now.
func (t *table) find(hash uint64, key types.NamespacedName) (*slot, *record) {
	a := t.array.Load()
	if a == nil {
		return nil, nil
	}
	for at := hash; ; at++ {
		s := &a.slots[at&a.mask]
		switch s.hash.Load() {
		case empty:
			return nil, nil
		case hash:
			if r := s.record.Load(); r != nil && r.key == key {
				return s, r
			}
		}
	}
}

// add puts in a record that is not there.
func (t *table) add(r *record) {
	a := t.array.Load()
	if a == nil || 4*(t.used+1) > 3*len(a.slots) {
		a = t.rebuild()
	}
	t.live++
	t.used++
	a.put(r)
}

// put fills the first slot that is empty. Readers look at the hash first, so it
// comes last.
func (a *slots) put(r *record) {
	at := r.hash
	for a.slots[at&a.mask].hash.Load() != empty {
		at++
	}
	s := &a.slots[at&a.mask]
	s.record.Store(r)
	s.head.Store(r.head.Load())
	s.hash.Store(r.hash)
}

// remove takes out a record that is there.
func (t *table) remove(r *record) {
	a := t.array.Load()
	at := r.hash
	for a.slots[at&a.mask].record.Load() != r {
		at++
	}
	s := &a.slots[at&a.mask]
	s.hash.Store(removed)
	s.record.Store(nil)
	s.head.Store(nil)
	if t.live--; len(a.slots) > smallestTable && t.live < len(a.slots)/8 {
		t.rebuild()
	}
}

// rebuild moves to a new array of which less than half is used.
func (t *table) rebuild() *slots {
	size := smallestTable
	for size <= 2*t.live {
		size *= 2
	}
	a := &slots{mask: uint64(size - 1), slots: make([]slot, size)}
	if old := t.array.Load(); old != nil {
		for i := range old.slots {
			if r := old.slots[i].record.Load(); r != nil {
				a.put(r)
			}
		}
	}
	t.used = t.live
	t.array.Store(a)
	return a
}

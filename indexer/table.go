package indexer

import "sync/atomic"

// table finds elements by hash: open addressing with linear probing. Any number
// of readers may look while the one writer changes it, without a lock.
//
// A slot is filled, and later marked as removed, but its element never moves.
// What outgrows its array gets a new one; readers of the old one find in it what
// they would have found when they began.
type table[E any] struct {
	array atomic.Pointer[slots[E]]

	// Only the writer looks at these: how many slots are not empty, and how many
	// of them hold an element.
	used, live int
}

type slots[E any] struct {
	mask  uint64
	slots []slot[E]
}

// slot is empty, removed, or holds an element of that hash.
type slot[E any] struct {
	hash    atomic.Uint64
	element atomic.Pointer[E]
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

// next returns an element with this hash and where it is, from the slot at on, or
// nil. The search begins at the hash itself, and goes on after each at. Elements
// with equal hashes are for the caller to tell apart.
func (t *table[E]) next(array *slots[E], hash, at uint64) (*E, uint64) {
	for ; ; at++ {
		s := &array.slots[at&array.mask]
		switch s.hash.Load() {
		case empty:
			return nil, at
		case hash:
			if e := s.element.Load(); e != nil { // It may have been removed just now.
				return e, at
			}
		}
	}
}

// add puts in an element that is not there.
func (t *table[E]) add(hash uint64, e *E) {
	array := t.array.Load()
	if array == nil || 4*(t.used+1) > 3*len(array.slots) {
		array = t.rebuild()
	}
	t.live++
	t.used += array.put(hash, e)
}

// put fills the first slot that is free, and returns how many fewer are empty.
// Readers look at the hash first, so it comes last.
func (a *slots[E]) put(hash uint64, e *E) int {
	for at := hash; ; at++ {
		s := &a.slots[at&a.mask]
		if was := s.hash.Load(); was <= removed {
			s.element.Store(e)
			s.hash.Store(hash)
			return 1 - int(was)
		}
	}
}

// remove takes out an element that is there.
func (t *table[E]) remove(hash uint64, e *E) {
	array := t.array.Load()
	for at := hash; ; at++ {
		s := &array.slots[at&array.mask]
		if s.element.Load() == e {
			s.hash.Store(removed)
			s.element.Store(nil)
			break
		}
	}
	if t.live--; len(array.slots) > smallestTable && t.live < len(array.slots)/8 {
		t.rebuild()
	}
}

// rebuild moves to a new array of which less than half is used.
func (t *table[E]) rebuild() *slots[E] {
	size := smallestTable
	for size <= 2*t.live {
		size *= 2
	}
	array := &slots[E]{mask: uint64(size - 1), slots: make([]slot[E], size)}
	t.used = t.live
	for hash, e := range t.all {
		array.put(hash, e)
	}
	t.array.Store(array)
	return array
}

// all iterates over the elements. Readers may miss those that come meanwhile.
func (t *table[E]) all(yield func(hash uint64, e *E) bool) {
	array := t.array.Load()
	if array == nil {
		return
	}
	for i := range array.slots {
		s := &array.slots[i]
		hash := s.hash.Load()
		if e := s.element.Load(); hash > removed && e != nil && !yield(hash, e) {
			return
		}
	}
}

package workqueue

import "hash/maphash"

// table finds the entry of each key that the queue knows: those that are dirty,
// processing, parked, or have an alarm. It is a hash table whose chains run
// through the entries, and not a map, because a map would hash each key four
// times for a turn (look for it, insert it, look for it, delete it): this one
// does so in Add, before the lock is taken, and again in Done only if the key is
// not the one that has been processing for longest. It takes an entry out without
// a look at its key.
type table[K comparable] struct {
	seed  maphash.Seed
	slots []*entry[K] // as many as a power of two
	len   int
	pool  pool[entry[K]]
}

const (
	minSlots = 16

	// A container that once held more than roomy elements is replaced by a
	// smaller one when only a sparse-th of them is left. The initial sync of a
	// large cluster would otherwise be paid for as long as the process lives.
	roomy  = 1024
	sparse = 32
)

func newTable[K comparable]() table[K] {
	return table[K]{seed: maphash.MakeSeed(), slots: make([]*entry[K], minSlots)}
}

// hash panics if K is an interface and the key is not hashable. It needs no lock.
func (t *table[K]) hash(key K) uint64 { return maphash.Comparable(t.seed, key) }

func (t *table[K]) slot(hash uint64) **entry[K] { return &t.slots[hash&uint64(len(t.slots)-1)] }

// find returns the entry of the key, or nil.
func (t *table[K]) find(key K, hash uint64) *entry[K] {
	for e := *t.slot(hash); e != nil; e = e.chain {
		if e.hash == hash && e.key == key {
			return e
		}
	}
	return nil
}

// insert makes an entry for a key that has none.
func (t *table[K]) insert(key K, hash uint64) *entry[K] {
	if t.len == len(t.slots)/2 {
		t.resize(2 * len(t.slots))
	}
	e := t.pool.get()
	e.key, e.hash = key, hash
	slot := t.slot(hash)
	e.chain, *slot = *slot, e
	t.len++
	return e
}

// release forgets the entry if it is idle, and does not keep its key (WQ-7).
func (t *table[K]) release(e *entry[K]) {
	if !e.idle() {
		return
	}
	slot := t.slot(e.hash)
	for *slot != e {
		slot = &(*slot).chain
	}
	*slot = e.chain
	e.clear()
	t.pool.put(e)
	t.len--
	if len(t.slots) > roomy && t.len <= len(t.slots)/sparse {
		t.resize(len(t.slots) / sparse * 4)
	}
}

func (t *table[K]) resize(slots int) {
	old := t.slots
	t.slots = make([]*entry[K], slots)
	for _, e := range old {
		for e != nil {
			next := e.chain
			slot := t.slot(e.hash)
			e.chain, *slot = *slot, e
			e = next
		}
	}
}

// all calls yield for every entry, in no order.
func (t *table[K]) all(yield func(*entry[K]) bool) {
	for _, e := range t.slots {
		for ; e != nil; e = e.chain {
			if !yield(e) {
				return
			}
		}
	}
}

// fitted is called when an element was deleted from a map, which by itself keeps
// the room of a burst: it returns the map, or a smaller copy of it when few are
// left. had is how many elements this map had at most.
func fitted[K comparable, V any](m map[K]V, had *int) map[K]V {
	*had = max(*had, len(m)+1)
	if *had <= roomy || len(m) > *had/sparse {
		return m
	}
	*had = len(m)
	small := make(map[K]V, len(m))
	for key, value := range m {
		small[key] = value
	}
	return small
}

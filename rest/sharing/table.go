package sharing

import (
	"hash/maphash"
	"sync/atomic"
	"unsafe"
)

// ways is how many entries compete for the same place in the table.
const ways = 4

// sweeps is how many sweeps make a round.
const sweeps = 32

// entryBytes is roughly what an entry costs beside its key: the entry itself, and
// what was decoded, which has about three times the size of its encoding.
const (
	entryBytes  = 96
	decodedSize = 3
)

// entry is an encoding and what was decoded from it. It is never changed, but for
// the mark of its use.
type entry struct {
	hash  uint64
	shape int // what kind of value it is: equal bytes mean different things elsewhere
	key   string
	value unsafe.Pointer // of a pointer, a map or an array; unused for a string, which is the key
	count int            // elements of the array
	lists int            // bytes of the lists, maps and what is pointed to in what was decoded
	inKey bool           // what was decoded lies in the key

	used   atomic.Bool // since it was last spared
	proven atomic.Bool // has been found at least once
	passed atomic.Bool // by the sweep, which finds it of no use next time
}

// is reports whether this is the entry of these bytes.
func (e *entry) is(shape int, key []byte) bool { return e.shape == shape && e.key == string(key) }

// use marks the entry as used.
func (e *entry) use() {
	if !e.used.Load() {
		e.used.Store(true)
		e.proven.Store(true)
	}
}

// cost is roughly what the entry keeps alive. A list may take hundreds of times as much as
// its encoding, if its elements are empty, and so may a map, and a pointer to a struct.
func (e *entry) cost() int64 {
	if e.inKey {
		return entryBytes + int64(len(e.key))
	}
	return entryBytes + int64(len(e.key)+max(decodedSize*len(e.key), e.lists))
}

// table remembers what has been decoded. Reading and writing take no lock: what
// two goroutines decode at the same time is merely not shared.
type table struct {
	seed  maphash.Seed
	slots []atomic.Pointer[entry] // in groups of so many ways; its length is a power of two
	seen  []atomic.Uint32         // of strings that were missing: parts of their hashes
	limit int64

	bytes   atomic.Int64
	entries atomic.Int64
	hand    atomic.Uint64 // where room is made next
	broom   atomic.Uint64 // where is swept next
}

// newTable returns a table of at most that many bytes.
func newTable(limit int64) *table {
	slots := ways
	for int64(slots)*512 < limit {
		slots *= 2
	}
	return &table{seed: maphash.MakeSeed(), slots: make([]atomic.Pointer[entry], slots), seen: make([]atomic.Uint32, slots), limit: limit}
}

func (t *table) hash(shape int, key []byte) uint64 {
	return maphash.Bytes(t.seed, key) ^ uint64(shape)*0x9e3779b97f4a7c15
}

// group is where an entry with this hash may be.
func (t *table) group(hash uint64) []atomic.Pointer[entry] {
	at := int(hash) & (len(t.slots) - 1) &^ (ways - 1)
	return t.slots[at : at+ways]
}

// find returns the entry of these bytes, or nil.
func (t *table) find(hash uint64, shape int, key []byte) *entry {
	group := t.group(hash)
	for i := range group {
		e := group[i].Load()
		if e != nil && e.hash == hash && e.is(shape, key) {
			e.use()
			return e
		}
	}
	return nil
}

// seenBefore reports whether a string that is missing was missing before, not long
// ago. Most strings are short, and what never comes again is not worth an entry.
func (t *table) seenBefore(hash uint64) bool {
	mark := uint32(hash>>32) | 1
	return t.seen[int(hash)&(len(t.seen)-1)].Swap(mark) == mark
}

// insert adds an entry, where there is no room in the place of one that has not been
// used of late.
func (t *table) insert(e *entry) {
	if e.cost() > t.limit/ways {
		return
	}
	group := t.group(e.hash)
	t.replace(&group[victim(group, int(e.hash>>32%ways))], e)
	for t.bytes.Load() > t.limit {
		t.replace(&t.slots[int(t.hand.Add(1))&(len(t.slots)-1)], nil)
	}
}

// victim is the place of a group that is empty, or whose entry has not been used of
// late: the first one from a place on.
func victim(group []atomic.Pointer[entry], from int) int {
	for i := range group {
		if group[i].Load() == nil {
			return i
		}
	}
	for i := range group {
		at := (from + i) % ways
		if old := group[at].Load(); old == nil || !old.used.Swap(false) {
			return at
		}
	}
	return from
}

func (t *table) replace(slot *atomic.Pointer[entry], e *entry) {
	if old := slot.Swap(e); old != nil {
		t.bytes.Add(-old.cost())
		t.entries.Add(-1)
	}
	if e != nil {
		t.bytes.Add(e.cost())
		t.entries.Add(1)
	}
}

// sweep looks at the next part of the table and drops what has been there for a
// whole round and was never found. So what turned out not to repeat does not stay in
// memory only because nothing else needs the room.
func (t *table) sweep() {
	part := max(len(t.slots)/sweeps, 1)
	first := int(t.broom.Add(uint64(part))) & (len(t.slots) - 1)
	for i := range part {
		slot := &t.slots[(first+i)&(len(t.slots)-1)]
		e := slot.Load()
		if e != nil && !e.proven.Load() && e.passed.Swap(true) && slot.CompareAndSwap(e, nil) {
			t.bytes.Add(-e.cost())
			t.entries.Add(-1)
		}
	}
}

package sharing

import (
	"hash/maphash"
	"sync/atomic"
	"unsafe"
)

// ways is the number of entries in one group of the table.
const ways = 4

// sweeps is the number of sweeps that together examine the whole table.
const sweeps = 32

// entryBytes is the approximate memory of an entry beside its key and value. decodedSize is the
// approximate size of a decoded value, as a multiple of its encoding.
const (
	entryBytes  = 112
	decodedSize = 3
)

// entry is an encoding (the key) and the value that was decoded from it. Once an entry is in the
// table, only its flags change.
type entry struct {
	hash   uint64
	typeID int // type of the value: equal bytes mean different values in different types
	key    string
	// Of a pointer, a map or an array; unused for a string, which is the key.
	value        unsafe.Pointer
	count        int    // elements of the array
	decodedBytes int    // bytes of the lists, maps and pointees in the value
	inKey        bool   // the memory of the value is the key
	origin       origin // nil for a string

	used    atomic.Bool // found since victim last cleared this flag
	proven  atomic.Bool // found at least once
	changed atomic.Bool // a program has changed the value in place
	swept   atomic.Bool // a sweep has seen it; the next sweep drops it unless it is proven
}

// is reports whether e is the entry for these bytes.
func (e *entry) is(typeID int, key []byte) bool { return e.typeID == typeID && e.key == string(key) }

// use marks the entry as used.
func (e *entry) use() {
	if !e.used.Load() {
		e.used.Store(true)
		e.proven.Store(true)
	}
}

// cost returns the approximate memory that the entry keeps alive. A list of empty elements, a map,
// or a pointer to a struct may take hundreds of times as much memory as its encoding.
func (e *entry) cost() int64 {
	if e.inKey {
		return entryBytes + int64(len(e.key))
	}
	return entryBytes + int64(len(e.key)+max(decodedSize*len(e.key), e.decodedBytes))
}

// table has the entries. Reading and writing take no lock. If two goroutines decode equal bytes at
// the same moment, the two values are not shared.
type table struct {
	seed  maphash.Seed
	slots []atomic.Pointer[entry] // in groups of ways; the number of groups is a power of two
	seen  []atomic.Uint32         // parts of the hashes of strings that were not found
	limit int64

	bytes   atomic.Int64
	entries atomic.Int64
	evictAt atomic.Uint64 // where insert makes room next
	sweepAt atomic.Uint64 // where sweep starts next
	checkAt atomic.Uint64 // the slot that Check examined last
}

// newTable returns a table of at most limit bytes.
func newTable(limit int64) *table {
	slots := ways
	for int64(slots)*512 < limit {
		slots *= 2
	}
	return &table{seed: maphash.MakeSeed(), slots: make([]atomic.Pointer[entry], slots), seen: make([]atomic.Uint32, slots), limit: limit}
}

func (t *table) hash(typeID int, key []byte) uint64 {
	return maphash.Bytes(t.seed, key) ^ uint64(typeID)*0x9e3779b97f4a7c15
}

// group returns the slots for entries with this hash.
func (t *table) group(hash uint64) []atomic.Pointer[entry] {
	at := int(hash) & (len(t.slots) - 1) &^ (ways - 1)
	return t.slots[at : at+ways]
}

// find returns the entry for these bytes, or nil.
func (t *table) find(hash uint64, typeID int, key []byte) *entry {
	group := t.group(hash)
	for i := range group {
		e := group[i].Load()
		if e != nil && e.hash == hash && e.is(typeID, key) {
			e.use()
			return e
		}
	}
	return nil
}

// seenBefore reports whether a string that is not in the table was looked up before, not long ago.
// A string becomes an entry only then: most strings are short, so an entry is not worth its memory
// if the string never repeats.
func (t *table) seenBefore(hash uint64) bool {
	fingerprint := uint32(hash>>32) | 1
	return t.seen[int(hash)&(len(t.seen)-1)].Swap(fingerprint) == fingerprint
}

// insert adds an entry. If its group is full, the entry replaces one that was not used lately.
func (t *table) insert(e *entry) {
	if e.cost() > t.limit/ways {
		return
	}
	group := t.group(e.hash)
	t.replace(&group[victim(group, int(e.hash>>32%ways))], e)
	for t.bytes.Load() > t.limit {
		t.replace(&t.slots[int(t.evictAt.Add(1))&(len(t.slots)-1)], nil)
	}
}

// victim returns the index of an empty slot of a group. If the group is full, it returns the index
// of the first entry that was not used lately. The search starts at the index from.
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

// sweep examines the next part of the table, and drops entries that have been there for a whole
// round and were never found. Without sweeps, values that do not repeat would stay in memory until
// another entry needs their slot.
func (t *table) sweep() {
	part := max(len(t.slots)/sweeps, 1)
	first := int(t.sweepAt.Add(uint64(part))) & (len(t.slots) - 1)
	for i := range part {
		slot := &t.slots[(first+i)&(len(t.slots)-1)]
		e := slot.Load()
		if e != nil && !e.proven.Load() && e.swept.Swap(true) && slot.CompareAndSwap(e, nil) {
			t.bytes.Add(-e.cost())
			t.entries.Add(-1)
		}
	}
}

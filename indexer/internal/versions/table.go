package versions

import (
	"math/bits"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/types"
)

// table is a hash table from keys to records. Any number of readers look up keys without a lock,
// while the single writer changes it. plain/store.go has a Go map and an RWMutex.
// BenchmarkGetEachKey takes 26 ns with this table, and 124 ns with a map and an RWMutex. It takes
// 116 ns with 64 maps and RWMutexes, and 162 ns with a sync.Map (docs/adr/0004).
//
// The table has open addressing with linear probing by groups of slots. Each group is one cache
// line (BenchmarkGet). A slot points to a record, which contains its key. So the writer may reuse a
// slot at once, even while a reader reads it. When the groups are full, the writer makes new ones.
// A reader that uses the old groups finds what it would have found when it started.
type table struct {
	hasher
	groups atomic.Pointer[[]group] // their number is a power of two

	// Only the writer uses the fields below.
	used int // slots that are not empty
	live int // slots that have a record
}

// group has some slots, and for each slot a tag of one byte: empty, removed, or a part of the hash
// of the key. A search ends at a group with an empty slot.
type group struct {
	tags  atomic.Uint64
	slots [slotsPerGroup]atomic.Pointer[Record]
}

const (
	slotsPerGroup = 7

	empty   = 0
	removed = 1 // tags of keys are higher

	ones  = 0x01_01_01_01_01_01_01 // the lowest bit of each tag
	highs = 0x80 * ones            // the highest bit of each tag
)

// matchTags returns the highest bit of each tag that equals tag. It may also return the highest bit
// of tags above an equal tag.
func matchTags(tags uint64, tag uint8) uint64 {
	x := tags ^ ones*uint64(tag)
	return (x - ones) &^ x & highs
}

// firstSlot returns the number of the first slot in the bits found, a result of matchTags.
func firstSlot(found uint64) int { return bits.TrailingZeros64(found) / 8 }

// tagOf returns the tag of a key with this hash. The lower bits of the hash say in which group a
// search starts.
func tagOf(hash uint64) uint8 { return max(uint8(hash>>56), removed+1) }

// find returns the record of a key, or nil. Most keys are in the first slot that has their tag, so
// find checks only this slot, and calls search for the others: BenchmarkGet, docs/adr/0004.
func (t *table) find(key types.NamespacedName) *Record {
	p := t.groups.Load()
	if p == nil {
		return nil
	}
	groups := *p
	hash := t.hash(key)
	g := &groups[hash&uint64(len(groups)-1)]
	if found := matchTags(g.tags.Load(), tagOf(hash)); found != 0 {
		if r := g.slots[firstSlot(found)].Load(); r != nil && r.Key == key {
			return r
		}
	}
	return search(groups, hash, key)
}

// search does the work of find, with a loop over all slots that may have the key.
func search(groups []group, hash uint64, key types.NamespacedName) *Record {
	for start, tag := hash, tagOf(hash); ; start++ {
		g := &groups[start&uint64(len(groups)-1)]
		tags := g.tags.Load()
		for found := matchTags(tags, tag); found != 0; found &= found - 1 {
			if r := g.slots[firstSlot(found)].Load(); r != nil && r.Key == key {
				return r
			}
		}
		if matchTags(tags, empty) != 0 {
			return nil
		}
	}
}

// add adds a record whose key is not in the table.
func (t *table) add(r *Record) {
	if p := t.groups.Load(); p == nil || 4*(t.used+1) > 3*slotsPerGroup*len(*p) {
		t.rebuild()
	}
	t.live++
	t.put(*t.groups.Load(), r)
}

// put stores a record in the first slot without a record. It writes the tag last, because readers
// read the tags first.
func (t *table) put(groups []group, r *Record) {
	hash := t.hash(r.Key)
	for start, tag := hash, tagOf(hash); ; start++ {
		g := &groups[start&uint64(len(groups)-1)]
		tags := g.tags.Load()
		for i := range g.slots {
			if old := uint8(tags >> (8 * i)); old <= removed {
				g.slots[i].Store(r)
				g.tags.Store(tags ^ uint64(old^tag)<<(8*i))
				if old == empty {
					t.used++
				}
				return
			}
		}
	}
}

// remove takes out a record.
func (t *table) remove(r *Record) {
	groups := *t.groups.Load()
	for start := t.hash(r.Key); ; start++ {
		g := &groups[start&uint64(len(groups)-1)]
		for i := range g.slots {
			if g.slots[i].Load() == r {
				t.clear(g, i)
				if t.live--; t.live < len(groups) {
					t.rebuild()
				}
				return
			}
		}
	}
}

// clear frees a slot. If the group has no empty slot, the slot becomes removed instead of empty, so
// that searches still continue past the group.
func (t *table) clear(g *group, i int) {
	tags, tag := g.tags.Load(), uint8(removed)
	if matchTags(tags, empty) != 0 {
		tag = empty
		t.used--
	}
	g.tags.Store(tags ^ uint64(uint8(tags>>(8*i))^tag)<<(8*i))
	g.slots[i].Store(nil)
}

// rebuild moves the records to new groups, which are then less than half full.
func (t *table) rebuild() {
	size := 1
	for slotsPerGroup*size <= 2*t.live {
		size *= 2
	}
	groups := make([]group, size)
	t.used = 0
	if old := t.groups.Load(); old != nil {
		for i := range *old {
			for j := range (*old)[i].slots {
				if r := (*old)[i].slots[j].Load(); r != nil {
					t.put(groups, r)
				}
			}
		}
	}
	t.groups.Store(&groups)
}

package indexer

import (
	"math/bits"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/types"
)

// table finds objects by key. Any number of readers may look while the one writer
// changes it, without a lock.
//
// It is open addressing with linear probing by groups of slots, each of which is
// one line of the processor's cache. A slot has the record of a key, which says
// itself what its key is: so a slot that was given up may be used again at once,
// whoever is looking at it. What outgrows its groups gets new ones; readers
// of the old ones find in them what they would have found when they began.
type table struct {
	hasher
	groups atomic.Pointer[[]group] // as many as a power of two

	// Only the writer looks at these: how many slots are not empty, and how many
	// of them have a record.
	used, live int
}

// group is slots with a tag for each, a byte: empty, removed, or a part of the
// hash of its key. A search ends at a group with an empty slot.
type group struct {
	tags  atomic.Uint64
	slots [slotsPerGroup]atomic.Pointer[record]
}

const (
	slotsPerGroup = 7

	empty   = 0
	removed = 1 // tags of keys are higher

	ones  = 0x01_01_01_01_01_01_01 // each tag
	highs = 0x80 * ones            // its highest bit
)

// having returns the highest bit of each tag that is this one, and perhaps of ones
// above it.
func having(tags uint64, tag uint8) uint64 {
	x := tags ^ ones*uint64(tag)
	return (x - ones) &^ x & highs
}

// at is the number of the slot that the lowest of these bits belongs to.
func at(found uint64) int { return bits.TrailingZeros64(found) / 8 }

// tagOf returns the tag of a key that has this hash. The rest of the hash says
// where to begin looking for the key.
func tagOf(hash uint64) uint8 { return max(uint8(hash>>56), removed+1) }

// find returns the record of a key, or nil. Most keys are where one looks first. To
// look on is a function of its own, so that this one has little to do but wait for
// memory: the less it does, the sooner a processor that works ahead gets to what is
// fetched from memory next.
func (t *table) find(key types.NamespacedName) *record {
	p := t.groups.Load()
	if p == nil {
		return nil
	}
	groups := *p
	hash := t.hash(key)
	g := &groups[hash&uint64(len(groups)-1)]
	if found := having(g.tags.Load(), tagOf(hash)); found != 0 {
		if r := g.slots[at(found)].Load(); r != nil && r.key == key {
			return r
		}
	}
	return search(groups, hash, key)
}

// search is find from the beginning, slot by slot.
func search(groups []group, hash uint64, key types.NamespacedName) *record {
	for start, tag := hash, tagOf(hash); ; start++ {
		g := &groups[start&uint64(len(groups)-1)]
		tags := g.tags.Load()
		for found := having(tags, tag); found != 0; found &= found - 1 {
			if r := g.slots[at(found)].Load(); r != nil && r.key == key {
				return r
			}
		}
		if having(tags, empty) != 0 {
			return nil
		}
	}
}

// add puts in the record of a key that is not there.
func (t *table) add(r *record) {
	if p := t.groups.Load(); p == nil || 4*(t.used+1) > 3*slotsPerGroup*len(*p) {
		t.rebuild()
	}
	t.live++
	t.put(*t.groups.Load(), r)
}

// put fills the first slot that has no record. Readers look at the tags first, so
// these come last.
func (t *table) put(groups []group, r *record) {
	hash := t.hash(r.key)
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
func (t *table) remove(r *record) {
	groups := *t.groups.Load()
	for start := t.hash(r.key); ; start++ {
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

// clear gives up a slot. Searches go on past it if they had to so far.
func (t *table) clear(g *group, i int) {
	tags, mark := g.tags.Load(), uint8(removed)
	if having(tags, empty) != 0 {
		mark = empty
		t.used--
	}
	g.tags.Store(tags ^ uint64(uint8(tags>>(8*i))^mark)<<(8*i))
	g.slots[i].Store(nil)
}

// rebuild moves to new groups of which less than half is used.
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

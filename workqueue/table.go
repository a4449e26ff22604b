package workqueue

import (
	"math/bits"
	"weak"
)

// table finds the entry of each key in the queue: keys that are dirty, processing, parked, or have
// an alarm. It is a hash table with linear probing.
//
// plain/workqueue.go has maps, which hash a key at each look-up, under the lock. This table gets
// the hashes instead. Add hashes before it takes the lock. Done hashes only if its key is not the
// key that has been processing longest. With one map of entries instead, Add, Get, Done takes 0.69
// of client-go's time, and 0.46 with this table. An Add of queued keys takes 1.25 with a map, and
// 0.85 here (bench/queue).
//
// Slots store hashes, so that growing the table and removing an entry need not read any key or
// other entry.
type table[K comparable] struct {
	slots []slot[K] // a power of two, and never all used
	len   int
	pool  pool[entry[K]]
}

type slot[K comparable] struct {
	hash  uint32
	entry *entry[K] // nil if the slot is free
}

const (
	minSlots = 16

	// A container that once had more than shrinkMinSize elements is replaced by a smaller container
	// when at most 1/shrinkRatio of its room is in use. Otherwise the memory of a large cluster's
	// initial sync would be kept for the life of the process.
	shrinkMinSize = 1024
	shrinkRatio   = 32
)

func newTable[K comparable]() table[K] {
	return table[K]{slots: make([]slot[K], minSlots)}
}

// find returns the entry of the key, or nil.
func (t *table[K]) find(key K, hash uint32) *entry[K] {
	for i := hash; ; i++ {
		s := &t.slots[int(i)&(len(t.slots)-1)]
		if s.entry == nil || s.hash == hash && s.entry.key == key {
			return s.entry
		}
	}
}

// insert makes an entry for a key that has none.
func (t *table[K]) insert(key K, hash uint32) *entry[K] {
	if t.len == len(t.slots)/5*4 {
		t.resize(2 * len(t.slots))
	}
	e := t.pool.get()
	e.key, e.hash = key, hash
	t.put(slot[K]{hash, e})
	t.len++
	return e
}

// put stores into the first free slot, starting from the slot of the hash.
func (t *table[K]) put(s slot[K]) {
	i := int(s.hash) & (len(t.slots) - 1)
	for t.slots[i].entry != nil {
		i = (i + 1) & (len(t.slots) - 1)
	}
	t.slots[i] = s
}

// release drops the entry if it is idle, and does not keep its key.
func (t *table[K]) release(e *entry[K]) {
	if !e.idle() {
		return
	}
	t.remove(e)
	e.clear()
	t.pool.put(e)
	t.len--
	if len(t.slots) > 2*shrinkMinSize && t.len <= len(t.slots)/shrinkRatio {
		t.resize(len(t.slots) / shrinkRatio * 4)
	}
}

// remove frees the entry's slot. If e has displaced entries to later slots, these entries move up.
// So find still meets every entry before a free slot.
func (t *table[K]) remove(e *entry[K]) {
	last := len(t.slots) - 1
	free := int(e.hash) & last
	for t.slots[free].entry != e {
		free = (free + 1) & last
	}
	for i := free; ; {
		i = (i + 1) & last
		s := &t.slots[i]
		if s.entry == nil {
			break
		}
		if wants := int(s.hash) & last; (i-wants)&last >= (i-free)&last {
			t.slots[free] = *s
			free = i
		}
	}
	t.slots[free] = slot[K]{}
}

func (t *table[K]) resize(slots int) {
	old := t.slots
	t.slots = make([]slot[K], slots)
	for _, s := range old {
		if s.entry != nil {
			t.put(s)
		}
	}
}

// sweep drops all idle entries; idle is the number of idle entries.
func (t *table[K]) sweep(idle int) {
	if idle == 0 {
		return
	}
	old := t.slots
	t.len -= idle
	t.pool = pool[entry[K]]{}
	t.slots = make([]slot[K], max(minSlots, 2<<bits.Len(uint(t.len))))
	if t.len == 0 {
		return // without visiting each entry
	}
	for _, s := range old {
		if s.entry != nil && !s.entry.idle() {
			t.put(s)
		}
	}
}

// all calls the function yield for every entry, in no particular order. No entry may be released
// meanwhile.
func (t *table[K]) all(yield func(*entry[K]) bool) {
	for _, s := range t.slots {
		if s.entry != nil && !yield(s.entry) {
			return
		}
	}
}

// shrinkMap is called after a delete from a map, because a Go map keeps the memory of a burst. It
// returns the map, or a smaller copy if few elements are left. maxLen is the maximum size of this
// map so far.
func shrinkMap[K comparable, V any](m map[K]V, maxLen *int) map[K]V {
	*maxLen = max(*maxLen, len(m)+1)
	if *maxLen <= shrinkMinSize || len(m) > *maxLen/shrinkRatio {
		return m
	}
	*maxLen = len(m)
	small := make(map[K]V, len(m))
	for key, value := range m {
		small[key] = value
	}
	return small
}

// pool hands out structs and takes them back, so that a queue in steady state allocates nothing. It
// keeps up to maxSpares spare structs. It keeps further spares only until the next garbage
// collection, so that the memory of a burst is returned. Without the additional spares, a queue
// that fills and empties repeatedly takes 1.6 times as long (bench/queue, "a producer that does not
// wait"). The zero value is an empty pool.
type pool[T any] struct {
	spare []*T
	extra weak.Pointer[[]*T] // batches of spares beyond maxSpares
}

const (
	maxSpares = 1024

	// batch is how many spares move to extra, or back, at once.
	batch = maxSpares / 2
)

// get returns a zero T.
func (p *pool[T]) get() *T {
	if len(p.spare) == 0 {
		p.fetch()
	}
	last := len(p.spare) - 1
	if last < 0 {
		return new(T)
	}
	t := p.spare[last]
	p.spare = p.spare[:last]
	return t
}

// put takes back a T that is unused and zero again.
func (p *pool[T]) put(t *T) {
	if len(p.spare) == maxSpares {
		p.stow()
	}
	p.spare = append(p.spare, t)
}

// stow moves a batch of spares to extra.
func (p *pool[T]) stow() {
	extra := p.extra.Value()
	if extra == nil { // never set, or collected
		extra = new([]*T)
		p.extra = weak.Make(extra)
	}
	moveBatch(extra, &p.spare)
}

// fetch moves a batch of spares back from extra, if there is one.
func (p *pool[T]) fetch() {
	if extra := p.extra.Value(); extra != nil && len(*extra) > 0 {
		moveBatch(&p.spare, extra)
	}
}

func moveBatch[T any](to, from *[]*T) {
	left := len(*from) - batch
	*to = append(*to, (*from)[left:]...)
	clear((*from)[left:])
	*from = (*from)[:left]
}

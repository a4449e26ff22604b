package events

// table maps a bounded number of keys to values. When it is full, it forgets the least recently
// used key. The caller provides the hash of a key, because computing the hash takes time in
// proportion to the size of the key. Keys may have the same hash.
type table[K comparable, V any] struct {
	capacity, count int
	entries         map[uint64]*entry[K, V] // the first entry of each hash
	// sentinel of a ring; lru.older is the most recently used entry
	lru entry[K, V]
}

type entry[K comparable, V any] struct {
	key          K
	value        V
	hash         uint64
	nextSameHash *entry[K, V] // the next entry of this hash
	newer        *entry[K, V]
	older        *entry[K, V]
}

func newTable[K comparable, V any](most int) *table[K, V] {
	t := &table[K, V]{capacity: most, entries: map[uint64]*entry[K, V]{}}
	t.lru.newer, t.lru.older = &t.lru, &t.lru
	return t
}

// peek returns the value of a key, or nil for a new key. A peek does not count as a use.
func (t *table[K, V]) peek(hash uint64, key *K) *V {
	if e := t.find(hash, key); e != nil {
		return &e.value
	}
	return nil
}

// get returns the value of a key, and inserts a zero value for a new key. The caller may change the
// value until the next call. It also returns the table's copy of the key, which never changes.
func (t *table[K, V]) get(hash uint64, key *K) (known *K, value *V) {
	e := t.find(hash, key)
	if e != nil {
		e.unlink()
	} else {
		if t.count >= t.capacity {
			t.forget(t.lru.newer)
		}
		e = &entry[K, V]{key: *key, hash: hash, nextSameHash: t.entries[hash]}
		t.entries[hash] = e
		t.count++
	}
	e.newer, e.older = &t.lru, t.lru.older
	e.newer.older, e.older.newer = e, e
	return &e.key, &e.value
}

func (t *table[K, V]) find(hash uint64, key *K) *entry[K, V] {
	for e := t.entries[hash]; e != nil; e = e.nextSameHash {
		if e.key == *key {
			return e
		}
	}
	return nil
}

func (t *table[K, V]) forget(e *entry[K, V]) {
	e.unlink()
	t.count--
	removeFromChain(t.entries, e.hash, e, func(e *entry[K, V]) **entry[K, V] { return &e.nextSameHash })
	// A caller may keep the key, which is a part of e. So e must not keep other entries alive.
	e.newer, e.older = nil, nil
}

func (e *entry[K, V]) unlink() { e.newer.older, e.older.newer = e.older, e.newer }

// removeFromChain removes an element from the chain of its hash. The function next returns where an
// element stores the next element.
func removeFromChain[E any](chains map[uint64]*E, hash uint64, removed *E, next func(*E) **E) {
	first := chains[hash]
	for at := &first; *at != nil; at = next(*at) {
		if *at == removed {
			*at = *next(removed)
			break
		}
	}
	*next(removed) = nil
	if first == nil {
		delete(chains, hash)
	} else {
		chains[hash] = first
	}
}

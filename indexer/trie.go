package indexer

import (
	"math/bits"
	"slices"
)

const (
	levelBits = 6  // bits of the hash that one level of a trie looks at
	hashBits  = 64 // bits of a hash; nodes below that depth are lists of full collisions
)

// trie is a persistent map: a hash array mapped trie. Copying the struct is
// copying the map, in O(1); a change copies the few nodes on its path and leaves
// every other copy as it was. The zero trie is empty.
//
// Changes are made on behalf of an owner. Nodes that the same owner made before
// are changed in place, so that a transaction of many changes copies each node
// once. An owner must not be used again after a copy of the trie was handed out.
//
// The caller hashes keys, always in the same way. Leaves belong to the caller
// and are never changed or copied: one leaf may stand in any number of tries.
type trie[K comparable, V any] struct {
	root *node[K, V]
	len  int
}

// owner stands for one transaction. It has a size because pointers to
// distinct variables of no size may be equal.
type owner struct{ _ byte }

// leaf is one key with its value.
type leaf[K comparable, V any] struct {
	hash  uint64
	key   K
	value V
}

// node is one level of a trie. Each bit that a hash can have on that level, see
// [position], stands for nothing, for a leaf, or for a child with two leaves or
// more. So the shape of a trie depends only on what is in it.
//
// Where the hash has no more bits, all keys have the same one: leaves.items is
// then a list in no order, and there are no children.
type node[K comparable, V any] struct {
	owner    *owner
	leaves   sparse[*leaf[K, V]]
	children sparse[*node[K, V]]
}

// position returns the bit that a hash has on a level.
func position(hash uint64, shift uint) uint64 {
	return 1 << (hash >> shift & (1<<levelBits - 1))
}

// get returns the leaf with this key, or nil.
func (t trie[K, V]) get(hash uint64, key K) *leaf[K, V] {
	n := t.root
	for shift := uint(0); n != nil && shift < hashBits; shift += levelBits {
		bit := position(hash, shift)
		if n.leaves.has(bit) {
			if l := *n.leaves.at(bit); l.hash == hash && l.key == key {
				return l
			}
			return nil
		}
		if !n.children.has(bit) {
			return nil
		}
		n = *n.children.at(bit)
	}
	if n != nil {
		if i := n.collision(key); i >= 0 {
			return n.leaves.items[i]
		}
	}
	return nil
}

// set puts the leaf in and returns the one that had its key before, or nil.
func (t *trie[K, V]) set(o *owner, l *leaf[K, V]) (old *leaf[K, V]) {
	if t.root == nil {
		t.root = &node[K, V]{owner: o}
	}
	t.root, old = t.root.set(o, 0, l)
	if old == nil {
		t.len++
	}
	return old
}

// delete takes the leaf with this key out and returns it, or nil.
func (t *trie[K, V]) delete(o *owner, hash uint64, key K) (old *leaf[K, V]) {
	if old = t.get(hash, key); old == nil {
		return nil
	}
	if t.len--; t.len == 0 {
		t.root = nil
	} else {
		t.root = t.root.delete(o, 0, hash, key)
	}
	return old
}

// all is an iterator over the leaves, in no order.
func (t trie[K, V]) all(yield func(*leaf[K, V]) bool) {
	if t.root != nil {
		t.root.all(yield)
	}
}

// set returns the node with the leaf in it, and the leaf that had its key before.
func (n *node[K, V]) set(o *owner, shift uint, l *leaf[K, V]) (_ *node[K, V], old *leaf[K, V]) {
	n = n.editable(o)
	if shift >= hashBits {
		if i := n.collision(l.key); i >= 0 {
			old, n.leaves.items[i] = n.leaves.items[i], l
		} else {
			n.leaves.items = append(n.leaves.items, l)
		}
		return n, old
	}
	switch bit := position(l.hash, shift); {
	case n.children.has(bit):
		child := n.children.at(bit)
		*child, old = (*child).set(o, shift+levelBits, l)
	case !n.leaves.has(bit):
		n.leaves.insert(bit, l)
	default:
		there := n.leaves.at(bit)
		if (*there).hash == l.hash && (*there).key == l.key {
			old, *there = *there, l
			break
		}
		// Two keys have this bit, so both go a level down.
		child := &node[K, V]{owner: o}
		child, _ = child.set(o, shift+levelBits, *there)
		child, _ = child.set(o, shift+levelBits, l)
		n.leaves.remove(bit)
		n.children.insert(bit, child)
	}
	return n, old
}

// delete returns the node without the key, which must be there.
func (n *node[K, V]) delete(o *owner, shift uint, hash uint64, key K) *node[K, V] {
	n = n.editable(o)
	if shift >= hashBits {
		i := n.collision(key)
		n.leaves.items = slices.Delete(n.leaves.items, i, i+1)
		return n
	}
	bit := position(hash, shift)
	if n.leaves.has(bit) {
		n.leaves.remove(bit)
		return n
	}
	child := n.children.at(bit)
	*child = (*child).delete(o, shift+levelBits, hash, key)
	if left := (*child).leaves.items; len(left) == 1 && len((*child).children.items) == 0 {
		n.children.remove(bit)
		n.leaves.insert(bit, left[0])
	}
	return n
}

// collision returns the place of a key among leaves that all have the same hash,
// or -1.
func (n *node[K, V]) collision(key K) int {
	return slices.IndexFunc(n.leaves.items, func(l *leaf[K, V]) bool { return l.key == key })
}

// editable returns the node itself if the owner may change it, or else a copy.
func (n *node[K, V]) editable(o *owner) *node[K, V] {
	if n.owner == o {
		return n
	}
	return &node[K, V]{owner: o, leaves: n.leaves.clone(), children: n.children.clone()}
}

// all yields the leaves under the node and reports whether all were wanted.
func (n *node[K, V]) all(yield func(*leaf[K, V]) bool) bool {
	for _, l := range n.leaves.items {
		if !yield(l) {
			return false
		}
	}
	for _, child := range n.children.items {
		if !child.all(yield) {
			return false
		}
	}
	return true
}

// sparse is an array of 64 items of which only those are stored that are there:
// one for each set bit of the bitmap, in the order of bits.
type sparse[E any] struct {
	bitmap uint64
	items  []E
}

func (s *sparse[E]) has(bit uint64) bool { return s.bitmap&bit != 0 }

// place returns how many items stand before a bit.
func (s *sparse[E]) place(bit uint64) int { return bits.OnesCount64(s.bitmap & (bit - 1)) }

// at returns the item of a bit that is set.
func (s *sparse[E]) at(bit uint64) *E { return &s.items[s.place(bit)] }

// insert adds the item of a bit that is not set. (slices.Insert would do the same;
// it is for several items, and costs every program 10 KB for the four types here.)
func (s *sparse[E]) insert(bit uint64, item E) {
	i := s.place(bit)
	s.items = append(s.items, item)
	copy(s.items[i+1:], s.items[i:])
	s.items[i] = item
	s.bitmap |= bit
}

// remove removes the item of a bit that is set.
func (s *sparse[E]) remove(bit uint64) {
	i := s.place(bit)
	s.items = slices.Delete(s.items, i, i+1)
	s.bitmap &^= bit
}

func (s *sparse[E]) clone() sparse[E] {
	return sparse[E]{bitmap: s.bitmap, items: slices.Clone(s.items)}
}

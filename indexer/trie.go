package indexer

import (
	"math/bits"
	"slices"
)

const (
	levelBits = 5  // bits of the hash that one level of a trie looks at
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

// node holds one slot for each set bit of its bitmap, in the order of bits. The
// bit that a hash has on a level is [position]. Below the last level of the hash
// all keys have the same one, and slots are leaves in no order.
//
// Under a node that is not the root there are always two leaves or more: a
// single one stands directly in the parent. So the shape of a trie depends only
// on what is in it.
type node[K comparable, V any] struct {
	owner  *owner
	bitmap uint32
	slots  []slot[K, V]
}

// slot has either a leaf or a child.
type slot[K comparable, V any] struct {
	leaf  *leaf[K, V]
	child *node[K, V]
}

// position returns the bit of a node's bitmap for a hash.
func position(hash uint64, shift uint) uint32 {
	return 1 << (hash >> shift & (1<<levelBits - 1))
}

// get returns the leaf with this key, or nil.
func (t trie[K, V]) get(hash uint64, key K) *leaf[K, V] {
	n := t.root
	for shift := uint(0); n != nil && shift < hashBits; shift += levelBits {
		bit := position(hash, shift)
		if n.bitmap&bit == 0 {
			return nil
		}
		s := &n.slots[bits.OnesCount32(n.bitmap&(bit-1))]
		if s.leaf != nil {
			if s.leaf.hash == hash && s.leaf.key == key {
				return s.leaf
			}
			return nil
		}
		n = s.child
	}
	if n != nil {
		if i, found := n.find(hashBits, hash, key); found {
			return n.slots[i].leaf
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

// all is an iterator over the leaves, in the order of their hashes.
func (t trie[K, V]) all(yield func(*leaf[K, V]) bool) {
	if t.root != nil {
		t.root.all(yield)
	}
}

// set returns the node with the leaf in it, and the leaf that had its key before.
func (n *node[K, V]) set(o *owner, shift uint, l *leaf[K, V]) (_ *node[K, V], old *leaf[K, V]) {
	i, found := n.find(shift, l.hash, l.key)
	if !found {
		n = n.editable(o, 1)
		n.bitmap |= position(l.hash, shift)
		n.slots = slices.Insert(n.slots, i, slot[K, V]{leaf: l})
		return n, nil
	}
	n = n.editable(o, 0)
	s := &n.slots[i]
	switch {
	case s.child != nil:
		s.child, old = s.child.set(o, shift+levelBits, l)
	case s.leaf.hash == l.hash && s.leaf.key == l.key:
		old, s.leaf = s.leaf, l
	default: // Two keys want this slot, so both go a level down.
		child := &node[K, V]{owner: o}
		child, _ = child.set(o, shift+levelBits, s.leaf)
		child, _ = child.set(o, shift+levelBits, l)
		*s = slot[K, V]{child: child}
	}
	return n, old
}

// delete returns the node without the key, which must be there.
func (n *node[K, V]) delete(o *owner, shift uint, hash uint64, key K) *node[K, V] {
	i, _ := n.find(shift, hash, key)
	n = n.editable(o, 0)
	s := &n.slots[i]
	if s.child == nil {
		n.bitmap &^= position(hash, shift)
		n.slots = slices.Delete(n.slots, i, i+1)
		return n
	}
	child := s.child.delete(o, shift+levelBits, hash, key)
	if len(child.slots) == 1 && child.slots[0].leaf != nil {
		*s = child.slots[0]
	} else {
		s.child = child
	}
	return n
}

// find returns the slot where the key is, or that leads to it, or the place for
// a new one.
func (n *node[K, V]) find(shift uint, hash uint64, key K) (i int, found bool) {
	if shift < hashBits {
		bit := position(hash, shift)
		return bits.OnesCount32(n.bitmap & (bit - 1)), n.bitmap&bit != 0
	}
	for i, s := range n.slots {
		if s.leaf.key == key {
			return i, true
		}
	}
	return len(n.slots), false
}

// editable returns the node itself if the owner may change it, or else a copy
// with room for so many more slots.
func (n *node[K, V]) editable(o *owner, room int) *node[K, V] {
	if n.owner == o {
		return n
	}
	slots := make([]slot[K, V], len(n.slots), len(n.slots)+room)
	copy(slots, n.slots)
	return &node[K, V]{owner: o, bitmap: n.bitmap, slots: slots}
}

// all yields the leaves under the node and reports whether all were wanted.
func (n *node[K, V]) all(yield func(*leaf[K, V]) bool) bool {
	for i := range n.slots {
		if s := &n.slots[i]; s.child != nil {
			if !s.child.all(yield) {
				return false
			}
		} else if !yield(s.leaf) {
			return false
		}
	}
	return true
}

package indexer

import (
	"maps"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// trieModel drives a trie and a plain map side by side, and keeps old versions
// of both.
type trieModel struct {
	hash func(byte) uint64

	trie  trie[byte, int]
	model map[byte]int
	owner *owner
	next  int

	versions []trieVersion
}

type trieVersion struct {
	trie  trie[byte, int]
	model map[byte]int
}

func newTrieModel(hash func(byte) uint64) *trieModel {
	return &trieModel{hash: hash, model: map[byte]int{}, owner: new(owner)}
}

func (m *trieModel) set(t require.TestingT, key byte) {
	m.next++
	l := &leaf[byte, int]{hash: m.hash(key), key: key, value: m.next}
	before, had := m.model[key]
	old := m.trie.set(m.owner, l)
	require.Equal(t, had, old != nil)
	if had {
		require.Equal(t, before, old.value)
	}
	m.model[key] = m.next
	require.Same(t, l, m.trie.get(l.hash, key))
}

func (m *trieModel) delete(t require.TestingT, key byte) {
	before, had := m.model[key]
	old := m.trie.delete(m.owner, m.hash(key), key)
	require.Equal(t, had, old != nil)
	if had {
		require.Equal(t, before, old.value)
	}
	delete(m.model, key)
	require.Nil(t, m.trie.get(m.hash(key), key))
}

// publish keeps the current version and goes on with another owner.
func (m *trieModel) publish() {
	m.versions = append(m.versions, trieVersion{m.trie, maps.Clone(m.model)})
	m.owner = new(owner)
}

// check compares all versions with their models: none has changed.
func (m *trieModel) check(t require.TestingT) {
	for _, v := range append(m.versions, trieVersion{m.trie, m.model}) {
		requireShape(t, v.trie)
		got := map[byte]int{}
		for l := range v.trie.all {
			require.NotContains(t, got, l.key)
			got[l.key] = l.value
		}
		require.Equal(t, v.model, got)
		require.Equal(t, len(v.model), v.trie.len)
		for key := range 256 {
			l := v.trie.get(m.hash(byte(key)), byte(key))
			value, ok := v.model[byte(key)]
			require.Equal(t, ok, l != nil)
			if ok {
				require.Equal(t, value, l.value)
			}
		}
	}
}

// requireShape checks what the comments of trie and node say of their shape.
func requireShape[K comparable, V any](t require.TestingT, tr trie[K, V]) {
	if tr.root == nil {
		require.Zero(t, tr.len)
		return
	}
	require.Equal(t, tr.len, requireNodeShape(t, tr.root, 0, 0))
}

// requireNodeShape checks a node to which hashes lead whose lowest shift bits
// are those of path, and returns the number of leaves under it.
func requireNodeShape[K comparable, V any](t require.TestingT, n *node[K, V], shift uint, path uint64) (leaves int) {
	if shift >= hashBits {
		require.Empty(t, n.children.items)
		for _, l := range n.leaves.items {
			require.Equal(t, path, l.hash)
		}
		leaves = len(n.leaves.items)
	} else {
		require.Zero(t, n.leaves.bitmap&n.children.bitmap, "a bit stands for a leaf or for a child")
		requireSparse(t, n.leaves, func(bit uint64, l *leaf[K, V]) {
			require.Equal(t, path|bit<<shift, l.hash&(1<<(shift+levelBits)-1), "a leaf is where its hash says")
			leaves++
		})
		requireSparse(t, n.children, func(bit uint64, child *node[K, V]) {
			leaves += requireNodeShape(t, child, shift+levelBits, path|bit<<shift)
		})
	}
	if shift == 0 {
		require.NotZero(t, leaves)
	} else {
		require.GreaterOrEqual(t, leaves, 2, "a single leaf stands in the parent")
	}
	return leaves
}

// requireSparse checks an array and calls check with the number of each bit and
// its item.
func requireSparse[E any](t require.TestingT, s sparse[E], check func(bit uint64, item E)) {
	require.Len(t, s.items, bits.OnesCount64(s.bitmap))
	rest := s.bitmap
	for _, item := range s.items {
		check(uint64(bits.TrailingZeros64(rest)), item)
		rest &= rest - 1
	}
}

// hashes are good and bad ways to hash a byte.
var hashes = map[string]func(byte) uint64{
	"even":      func(key byte) uint64 { return rand.New(rand.NewPCG(1, uint64(key))).Uint64() },
	"dense":     func(key byte) uint64 { return uint64(key) },
	"high bits": func(key byte) uint64 { return uint64(key) << 56 },
	"few":       func(key byte) uint64 { return uint64(key%4) << 62 },
	"one":       func(byte) uint64 { return 0x123456789abcdef },
}

func TestTrieBehavesAsAMapAndOldVersionsStayAsTheyWere(t *testing.T) {
	t.Parallel()
	for name, hash := range hashes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newTrieModel(hash)
			random := rand.New(rand.NewPCG(7, 11))
			for round := range 24 {
				for range random.IntN(60) {
					// The share of deletes rises and falls, so that the trie fills and empties.
					if key := byte(random.IntN(256)); random.IntN(24) < round%24 {
						m.delete(t, key)
					} else {
						m.set(t, key)
					}
				}
				m.publish()
			}
			m.check(t)
			for key := range 256 {
				m.delete(t, byte(key))
			}
			require.Nil(t, m.trie.root)
			m.check(t)
		})
	}
}

func TestTrieHasTheSameShapeWhateverTheOrderOfChanges(t *testing.T) {
	t.Parallel()
	for name, hash := range hashes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			straight, detour := newTrieModel(hash), newTrieModel(hash)
			for key := range 100 {
				straight.set(t, byte(key))
			}
			for key := 255; key >= 0; key-- {
				detour.set(t, byte(key))
			}
			for key := 100; key < 256; key++ {
				detour.delete(t, byte(key))
			}
			require.Equal(t, nodes(straight.trie.root), nodes(detour.trie.root))
		})
	}
}

// nodes counts the nodes of a trie.
func nodes[K comparable, V any](n *node[K, V]) int {
	count := 1
	for _, child := range n.children.items {
		count += nodes(child)
	}
	return count
}

func TestTrieDeletingWhatIsNotThereCopiesNothing(t *testing.T) {
	t.Parallel()
	m := newTrieModel(hashes["even"])
	m.set(t, 1)
	root := m.trie.root
	require.Nil(t, m.trie.delete(new(owner), m.hash(2), 2))
	require.Same(t, root, m.trie.root)
}

func TestTrieEditsItsOwnNodesInPlaceAndCopiesThoseOfOthers(t *testing.T) {
	t.Parallel()
	m := newTrieModel(hashes["even"])
	m.set(t, 1)
	root := m.trie.root
	m.set(t, 2)
	require.Same(t, root, m.trie.root)
	m.publish()
	m.set(t, 3)
	require.NotSame(t, root, m.trie.root)
	m.check(t)
}

func TestTrieIterationStopsWhenTold(t *testing.T) {
	t.Parallel()
	for name, hash := range hashes {
		m := newTrieModel(hash)
		for key := range 100 {
			m.set(t, byte(key))
		}
		seen := 0
		for range m.trie.all {
			if seen++; seen == 40 {
				break
			}
		}
		require.Equal(t, 40, seen, name)
	}
}

// FuzzTrie reads its input as a hash function, then as changes: two bytes are an
// action and a key.
func FuzzTrie(f *testing.F) {
	f.Add([]byte{0, 0, 1, 0, 2, 3, 0, 0, 1, 1, 1, 1, 2})
	f.Add([]byte{4, 0, 1, 0, 2, 0, 3, 3, 0, 1, 2, 1, 1, 3, 0, 1, 3})
	f.Add([]byte{2, 0, 128, 0, 64, 3, 0, 1, 128, 3, 0, 0, 128, 1, 64})
	names := []string{"even", "dense", "high bits", "few", "one"}
	f.Fuzz(func(t *testing.T, input []byte) {
		if len(input) == 0 {
			return
		}
		m := newTrieModel(hashes[names[int(input[0])%len(names)]])
		for input = input[1:]; len(input) >= 2; input = input[2:] {
			switch key := input[1]; input[0] % 4 {
			case 0, 1:
				m.set(t, key)
			case 2:
				m.delete(t, key)
			default:
				if len(m.versions) < 16 {
					m.publish()
				}
			}
		}
		m.check(t)
	})
}

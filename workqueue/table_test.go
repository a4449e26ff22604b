package workqueue

import (
	"math"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"
)

// Deletion from a table with linear probing can fail for keys with colliding hashes. It can also
// fail for runs of slots that wrap around the end of the table. Random hashes rarely produce these
// cases.
func TestTheTableFindsWhatItHasWhateverTheHashes(t *testing.T) {
	t.Parallel()
	for name, hash := range map[string]func(int) uint32{
		"all the same":             func(int) uint32 { return 7 },
		"all at the end":           func(key int) uint32 { return math.MaxUint32 - uint32(key%3) },
		"around the end":           func(key int) uint32 { return uint32(key%7) - 3 },
		"the same in small tables": func(key int) uint32 { return uint32(key) << 7 },
		"negative as an int32":     func(key int) uint32 { return 1<<31 + uint32(key*key) },
		"one after another":        func(key int) uint32 { return uint32(key) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(1, 2))
			table := newTable[int]()
			entries := make(map[int]*entry[int])
			verify := func(keys int) {
				require.Len(t, entries, table.len)
				for key := range keys {
					require.Same(t, entries[key], table.find(key, hash(key)))
				}
				n := 0
				for e := range table.all {
					require.Same(t, entries[e.key], e)
					n++
				}
				require.Equal(t, table.len, n)
			}
			for _, keys := range []int{10, 40, 300, 40} {
				for step := range 20 * keys {
					key := random.IntN(keys)
					if e := entries[key]; e == nil {
						entries[key] = table.insert(key, hash(key))
						entries[key].dirty = true
					} else {
						e.dirty = false
						table.release(e)
						delete(entries, key)
					}
					if step%keys == 0 {
						verify(keys)
					}
				}
				verify(300)
				idle := 0
				for key, e := range entries {
					if random.IntN(4) > 0 {
						e.dirty = false
						idle++
						delete(entries, key)
					}
				}
				table.sweep(idle)
				verify(300)
			}
		})
	}
}

// Not parallel, because it disables garbage collection.
func TestAPoolKeepsManySparesUntilTheNextCollection(t *testing.T) { // WQ-7
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	runtime.GC() // a collection in progress would end within the test
	const many = 5 * maxSpares
	var p pool[[64]byte]
	take := func() map[*[64]byte]bool {
		taken := make(map[*[64]byte]bool)
		for range many {
			taken[p.get()] = true
		}
		require.Len(t, taken, many, "each is handed out once")
		return taken
	}
	first := take()
	for one := range first {
		p.put(one)
	}
	require.Equal(t, first, take(), "get must not allocate while spares are left")
	for one := range first {
		p.put(one)
	}
	runtime.GC()
	require.Nil(t, p.extra.Value())
	require.LessOrEqual(t, len(p.spare), maxSpares)
	known := 0
	for one := range take() {
		if first[one] {
			known++
		}
	}
	require.LessOrEqual(t, known, maxSpares)
}

package events

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// A table behaves like a list of its most recent keys, even if keys have the same hash.
func TestTableKeepsTheLastUsedKeys(t *testing.T) {
	t.Parallel()
	for _, hashes := range []uint64{1, 3, 1000} {
		random := rand.New(rand.NewPCG(hashes, 7))
		const most = 8
		table := newTable[string, int](most)
		var order []string // the most recently used key is last
		values := map[string]int{}
		for range 5000 {
			n := random.IntN(20)
			key, hash := fmt.Sprint("key-", n), uint64(n)%hashes
			if random.IntN(4) == 0 {
				value := table.peek(hash, &key)
				require.Equal(t, slices.Contains(order, key), value != nil)
				if value != nil {
					require.Equal(t, values[key], *value)
				}
				continue
			}
			known, value := table.get(hash, &key)
			require.Equal(t, key, *known)
			require.Equal(t, values[key], *value)
			if i := slices.Index(order, key); i >= 0 {
				order = slices.Delete(order, i, i+1)
			} else if len(order) == most {
				delete(values, order[0])
				order = order[1:]
			}
			order = append(order, key)
			values[key]++
			*value++
			require.Equal(t, len(order), table.count)
			require.LessOrEqual(t, len(table.entries), table.count)
		}
	}
}

// A caller that keeps the key of a forgotten entry does not keep other entries in memory.
func TestRemovedEntryKeepsNoOtherInMemory(t *testing.T) {
	t.Parallel()
	table := newTable[string, int](1)
	key, next := "a", "b"
	table.get(0, &key)
	forgotten := table.entries[0]
	table.get(0, &next)
	require.Nil(t, forgotten.nextSameHash)
	require.Nil(t, forgotten.newer)
	require.Nil(t, forgotten.older)
	require.Len(t, table.entries, 1)
}

package indexer

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
)

func TestHashDependsOnEveryByteAndOnWhereTheNameBegins(t *testing.T) {
	t.Parallel()
	h, seen := newHasher(), map[uint64]types.NamespacedName{}
	check := func(key types.NamespacedName) {
		hash := h.hash(key)
		require.Equal(t, hash, h.hash(key))
		other, twice := seen[hash]
		require.False(t, twice && other != key, "%v and %v", key, other)
		seen[hash] = key
	}
	for length := range 70 {
		plain := strings.Repeat("a", length)
		for at := range length + 1 {
			check(types.NamespacedName{Namespace: plain[:at], Name: plain[at:]})
		}
		for at := range length {
			changed := plain[:at] + "b" + plain[at+1:]
			check(types.NamespacedName{Name: changed})
			check(types.NamespacedName{Namespace: changed, Name: "name"})
		}
	}
}

func TestHashesOfTwoStoresDiffer(t *testing.T) {
	t.Parallel()
	one, other := newHasher(), newHasher()
	key := types.NamespacedName{Namespace: "default", Name: "web"}
	require.NotEqual(t, one.hash(key), other.hash(key))
}

func TestTableUsesSlotsAgain(t *testing.T) {
	t.Parallel()
	table, namespace := table{hasher: newHasher()}, &bucket{value: "default"}
	var stored []*version
	for n := range 10_000 {
		v := &version{name: strings.Repeat("x", n%97) + string(rune('a'+n%26)) + string(rune(0x4e00+n)), namespace: namespace}
		table.add(v)
		if stored = append(stored, v); len(stored) > 100 {
			table.remove(stored[0])
			_, found := table.find(stored[0].key())
			require.Nil(t, found)
			stored = stored[1:]
		}
		_, found := table.find(v.key())
		require.Same(t, v, found)
	}
	for _, v := range stored {
		_, found := table.find(v.key())
		require.Same(t, v, found)
	}
	require.Equal(t, len(stored), table.live)
	require.LessOrEqual(t, len(*table.groups.Load()), 64)
}

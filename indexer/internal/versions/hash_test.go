package versions

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
		require.False(t, twice && other != key, "%v and %v must not have the same hash", key, other)
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

func TestTableReusesSlots(t *testing.T) {
	t.Parallel()
	table := table{hasher: newHasher()}
	var stored []*Record
	for n := range 10_000 {
		r := &Record{Key: types.NamespacedName{Namespace: "default", Name: strings.Repeat("x", n%97) + string(rune('a'+n%26)) + string(rune(0x4e00+n))}}
		table.add(r)
		if stored = append(stored, r); len(stored) > 100 {
			table.remove(stored[0])
			require.Nil(t, table.find(stored[0].Key))
			stored = stored[1:]
		}
		require.Same(t, r, table.find(r.Key))
	}
	for _, r := range stored {
		require.Same(t, r, table.find(r.Key))
	}
	require.Equal(t, len(stored), table.live)
	require.LessOrEqual(t, len(*table.groups.Load()), 64)
}

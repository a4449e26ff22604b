package apitest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
)

// The model of the set is a map, sorted for each comparison. Earlier sets must stay unchanged.
func TestSortedRevisionsMatchAMapAndAreImmutable(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	key := func(n int) types.NamespacedName {
		return types.NamespacedName{Namespace: fmt.Sprintf("ns-%d", n%3), Name: fmt.Sprintf("%05d", n)}
	}
	list := func(s sortedRevisions, namespace string) (out []*revision) {
		return slices.Collect(s.inNamespace(namespace))
	}
	type version struct {
		set  sortedRevisions
		want []*revision
	}
	var past []version
	var s sortedRevisions
	model := map[types.NamespacedName]*revision{}
	for step := range 20_000 {
		k := key(random.IntN(3000))
		if step > 10_000 && random.IntN(3) > 0 || random.IntN(4) == 0 {
			s = s.without(k)
			delete(model, k)
		} else {
			rev := &revision{key: k}
			s = s.with(rev)
			model[k] = rev
		}
		require.Same(t, model[k], s.get(k))
		if step%1000 == 0 {
			want := slices.SortedFunc(maps.Values(model), func(a, b *revision) int { return compareKeys(a.key, b.key) })
			past = append(past, version{s, want})
		}
	}
	for _, v := range past {
		require.Equal(t, len(v.want), v.set.len)
		require.Equal(t, v.want, list(v.set, ""))
		var inOne []*revision
		for _, rev := range v.want {
			if rev.key.Namespace == "ns-1" {
				inOne = append(inOne, rev)
			}
		}
		require.Equal(t, inOne, list(v.set, "ns-1"))
		if len(v.want) > 10 {
			require.Equal(t, v.want[6:], slices.Collect(v.set.after(v.want[5].key, "")))
		}
	}
	for k := range model {
		s = s.without(k)
	}
	require.Empty(t, s.chunks)
	require.Zero(t, s.len)
	require.Empty(t, list(s, ""))
}

func TestSortedChunksStayFullWhenKeysComeInOrder(t *testing.T) {
	t.Parallel()
	var s sortedRevisions
	for n := range 10 * chunkSize {
		s = s.with(&revision{key: types.NamespacedName{Name: fmt.Sprintf("%06d", n)}})
	}
	require.Len(t, s.chunks, 10)
}

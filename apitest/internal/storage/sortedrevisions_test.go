package storage

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
	list := func(s SortedRevisions, namespace string) (out []*Revision) {
		return slices.Collect(s.InNamespace(namespace))
	}
	type version struct {
		set  SortedRevisions
		want []*Revision
	}
	var past []version
	var s SortedRevisions
	model := map[types.NamespacedName]*Revision{}
	for step := range 20_000 {
		k := key(random.IntN(3000))
		if step > 10_000 && random.IntN(3) > 0 || random.IntN(4) == 0 {
			s = s.without(k)
			delete(model, k)
		} else {
			rev := &Revision{Key: k}
			s = s.with(rev)
			model[k] = rev
		}
		require.Same(t, model[k], s.get(k))
		if step%1000 == 0 {
			want := slices.SortedFunc(maps.Values(model), func(a, b *Revision) int { return compareKeys(a.Key, b.Key) })
			past = append(past, version{s, want})
		}
	}
	for _, v := range past {
		require.Equal(t, len(v.want), v.set.Len)
		require.Equal(t, v.want, list(v.set, ""))
		var inOne []*Revision
		for _, rev := range v.want {
			if rev.Key.Namespace == "ns-1" {
				inOne = append(inOne, rev)
			}
		}
		require.Equal(t, inOne, list(v.set, "ns-1"))
		if len(v.want) > 10 {
			require.Equal(t, v.want[6:], slices.Collect(v.set.After(v.want[5].Key, "")))
		}
	}
	for k := range model {
		s = s.without(k)
	}
	require.Empty(t, s.chunks)
	require.Zero(t, s.Len)
	require.Empty(t, list(s, ""))
}

func TestSortedChunksStayFullWhenKeysComeInOrder(t *testing.T) {
	t.Parallel()
	var s SortedRevisions
	for n := range 10 * chunkSize {
		s = s.with(&Revision{Key: types.NamespacedName{Name: fmt.Sprintf("%06d", n)}})
	}
	require.Len(t, s.chunks, 10)
}

package informer

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/reflector"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
)

// newRefusing returns an informer that has refused this many objects.
func newRefusing(refused int) *Informer[int] {
	i := &Informer[int]{refused: map[types.NamespacedName]*listwatch.ObjectError{}}
	for n := range refused {
		key := types.NamespacedName{Name: fmt.Sprint(n)}
		i.refused[key] = &listwatch.ObjectError{Key: key, Err: errors.New("refused")}
	}
	i.refusedCount.Store(int64(refused))
	return i
}

func undecodable(names ...string) (u reflector.Undecodable) {
	// With spare capacity, an append would write into the shared array.
	u.Objects = make([]*listwatch.ObjectError, 0, 2*len(names))
	for _, name := range names {
		u.Objects = append(u.Objects, &listwatch.ObjectError{Key: types.NamespacedName{Name: name}})
	}
	u.Count = len(names)
	return u
}

// Every caller of Status gets a slice of its own, because several may call at once.
func TestUndecodableObjectsOfStatusShareNothing(t *testing.T) {
	t.Parallel()
	i := newRefusing(3)
	of := undecodable("a", "b", "1")
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			all := i.allUndecodable(of)
			require.Equal(t, 5, all.Count, "an object that is both refused and undecodable counts once")
			names := map[string]bool{}
			for _, object := range all.Objects {
				names[object.Key.Name] = true
			}
			require.Len(t, names, 5)
		})
	}
	group.Wait()
	require.Len(t, of.Objects, 3)
}

// G11: a Status with many refused objects costs as much as a Status with a hundred refused objects.
// The informer computes it under the lock that it needs for each batch.
func TestManyRefusedObjectsDoNotDelayTheInformer(t *testing.T) {
	t.Parallel()
	var names []string
	for n := range 100 {
		names = append(names, fmt.Sprint(n))
	}
	cost := func(refused int) time.Duration {
		i, of := newRefusing(refused), undecodable(names...)
		least := time.Hour
		for range 5 {
			began := time.Now()
			all := i.allUndecodable(of)
			least = min(least, time.Since(began))
			require.Len(t, all.Objects, 100)
			require.Equal(t, refused, all.Count)
		}
		return least
	}
	require.Less(t, cost(100_000), 50*cost(100))
	i := newRefusing(100_000)
	all := i.allUndecodable(undecodable("0", "x"))
	require.Equal(t, 100_001, all.Count)
	require.Len(t, all.Objects, 100)
}

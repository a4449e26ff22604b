package indexer

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// The records that a cursor looks at at once may all be holes, or of objects that
// do not belong to the walk.
func TestACursorPassesWhatDoesNotBelongToIt(t *testing.T) {
	t.Parallel()
	const objects = 5 * lookAhead
	name := func(n int) string { return fmt.Sprintf("ns/o%03d", n) }
	store := newStore(t, byTerm)
	var ops []Op[*object]
	for n := range objects {
		ops = append(ops, put(name(n), &object{terms: []string{"here"}}))
	}
	require.NoError(t, apply(store, ops, ""))
	before := store.Snapshot()
	defer before.Release()

	var left []string
	ops = nil
	for n := range objects {
		switch {
		case n/lookAhead == 1: // holes, once nobody has the snapshot
			ops = append(ops, del(name(n)))
		case n/lookAhead == 3:
			ops = append(ops, put(name(n), &object{terms: []string{"elsewhere"}}))
		default:
			left = append(left, name(n))
		}
	}
	require.NoError(t, apply(store, ops, ""))
	after := store.Snapshot()
	defer after.Release()
	require.Len(t, byIndex(t, before, "term", "here"), objects)
	require.Equal(t, left, byIndex(t, after, "term", "here"))
	require.Len(t, byIndex(t, after, "term", "elsewhere"), lookAhead)
	require.Len(t, names(t, after.All()), objects-lookAhead)

	before.Release()
	require.Equal(t, left, byIndex(t, store.Snapshot(), "term", "here"))
	require.Len(t, names(t, store.All()), objects-lookAhead)
}

func TestALoopMayEndAnywhereAndHaveAnotherOneInside(t *testing.T) {
	t.Parallel()
	store := newStore(t, nil)
	var ops []Op[*object]
	for n := range 2*lookAhead + 3 {
		ops = append(ops, put(fmt.Sprint(n), &object{}))
	}
	require.NoError(t, apply(store, ops, ""))
	for stop := range len(ops) {
		seen := 0
		for range store.All() {
			if seen++; seen > stop {
				break
			}
			require.Len(t, names(t, store.All()), len(ops))
		}
		require.Equal(t, stop+1, seen)
	}
}

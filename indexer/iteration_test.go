package indexer

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// Many consecutive slots may be holes, or may have objects that the walk must skip.
func TestAWalkSkipsHolesAndOtherObjects(t *testing.T) {
	t.Parallel()
	const some = 16 // of each kind
	const objects = 5 * some
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
		case n/some == 1: // holes, after the snapshot is released
			ops = append(ops, del(name(n)))
		case n/some == 3:
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
	require.Len(t, byIndex(t, after, "term", "elsewhere"), some)
	require.Len(t, names(t, after.All()), objects-some)

	before.Release()
	require.Equal(t, left, byIndex(t, store.Snapshot(), "term", "here"))
	require.Len(t, names(t, store.All()), objects-some)
}

func TestLoopsMayEndEarlyAndBeNested(t *testing.T) {
	t.Parallel()
	store := newStore(t, nil)
	var ops []Op[*object]
	for n := range 35 {
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

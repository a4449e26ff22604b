package indexer

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestObserverAndStatsCountTheOps(t *testing.T) {
	t.Parallel()
	var applied []AppliedInfo
	store, err := New(Options[*object]{
		Indexes:  byTerm,
		Observer: &Observer{OnApplied: func(info AppliedInfo) { applied = append(applied, info) }},
	})
	require.NoError(t, err)
	require.NoError(t, apply(store, []Op[*object]{put("a/x", &object{terms: []string{"t", "u"}}), put("a/y", &object{}), put("z", &object{})}, "3"))
	require.Error(t, apply(store, []Op[*object]{put("a/x", &object{}), del("a/y"), del("a/absent"), put("b/x", &object{err: errors.New("no")})}, "4"))
	require.NoError(t, replace(store, []Op[*object]{put("a/x", &object{terms: []string{"t"}}), put("b/x", &object{})}, ""))

	want := []AppliedInfo{
		{Counts: Counts{Added: 3}, ResourceVersion: "3", Revision: 1},
		{Counts: Counts{Updated: 1, Deleted: 1, Failed: 1}, ResourceVersion: "4", Revision: 2},
		{Counts: Counts{Updated: 1, Added: 1, Deleted: 1}, ResourceVersion: "4", Revision: 3},
	}
	for i := range applied {
		require.Positive(t, applied[i].Took)
		applied[i].Took = 0
	}
	require.Equal(t, want, applied)
	require.Equal(t, Stats{
		Counts:          Counts{Added: 4, Updated: 2, Deleted: 2, Failed: 1},
		Objects:         2,
		Namespaces:      2,
		Indexes:         map[string]int{"term": 1},
		ResourceVersion: "4",
		Revision:        3,
	}, store.Stats())
}

// A transaction of one object has a fast path.
func TestStatsCountTransactionsOfOneObject(t *testing.T) {
	t.Parallel()
	store := newStore(t, byTerm)
	for n, o := range []*object{{terms: []string{"t"}}, {terms: []string{"t"}}, {terms: []string{"t"}}, {terms: []string{"u"}}} {
		require.NoError(t, apply(store, []Op[*object]{put("a/x", o)}, ""))
		require.Equal(t, Stats{
			Counts:     Counts{Added: 1, Updated: uint64(n)},
			Objects:    1,
			Namespaces: 1,
			Indexes:    map[string]int{"term": 1},
			Revision:   uint64(n) + 1,
		}, store.Stats())
	}
}

func TestObserverIsCalledWithoutALock(t *testing.T) {
	t.Parallel()
	var store *Store[*object]
	depth := 0
	store, err := New(Options[*object]{Observer: &Observer{OnApplied: func(info AppliedInfo) {
		require.Equal(t, info.Revision, store.Snapshot().Revision(), "the transaction must be published")
		if depth++; depth < 3 {
			require.NoError(t, apply(store, []Op[*object]{put("a/x", &object{})}, ""))
		}
	}}})
	require.NoError(t, err)
	require.NoError(t, apply(store, nil, "1"))
	require.Equal(t, 3, depth)
}

package indexer

import (
	"errors"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNewRejectsAnIndexWithoutNameOrFunction(t *testing.T) {
	t.Parallel()
	_, err := New(Options[int]{Indexes: map[string]IndexFunc[int]{"": func(int) ([]string, error) { return nil, nil }}})
	require.ErrorContains(t, err, "needs a name")
	_, err = New(Options[int]{Indexes: map[string]IndexFunc[int]{"node": nil}})
	require.ErrorContains(t, err, `"node" has no function`)
}

// IX-12: changes to the arguments of New after the call, such as the map of indexes, do not affect
// the store.
func TestNewCopiesItsOptions(t *testing.T) {
	t.Parallel()
	calls := 0
	indexes := map[string]IndexFunc[*object]{"term": termsOfObject}
	observer := &Observer{OnApplied: func(AppliedInfo) { calls++ }}
	store, err := New(Options[*object]{Indexes: indexes, Observer: observer})
	require.NoError(t, err)
	delete(indexes, "term")
	observer.OnApplied = nil
	require.NoError(t, apply(store, nil, ""))
	require.Equal(t, 1, calls)
	require.Equal(t, []string{"term"}, store.Indexes())
}

func TestEmptyStoreReturnsEmptyResults(t *testing.T) {
	t.Parallel()
	store := newStore(t, byTerm)
	_, ok := store.Get(key("a"))
	require.False(t, ok)
	_, ok = store.Entry(key("a"))
	require.False(t, ok)
	require.Zero(t, store.Len())
	require.Empty(t, slices.Collect(store.Keys()))
	require.Empty(t, names(t, store.All()))
	require.Empty(t, names(t, store.Namespace("a")))
	require.Empty(t, byIndex(t, store.Snapshot(), "term", "a"))
	require.Empty(t, counted(t, store.Namespaces(), nil))
	require.Empty(t, store.ResourceVersion())
}

// IX-1
func TestApplyInsertsReplacesAndDeletes(t *testing.T) {
	t.Parallel()
	store := newStore(t, byTerm)
	require.NoError(t, apply(store, []Op[*object]{put("a/x", &object{version: 1}), put("a/y", &object{version: 2}), put("z", &object{version: 3})}, ""))
	require.NoError(t, apply(store, []Op[*object]{put("a/x", &object{version: 4}), del("a/y"), del("a/absent")}, ""))
	require.Equal(t, []string{"z", "a/x"}, names(t, store.All()))
	x, ok := store.Get(key("a/x"))
	require.True(t, ok)
	require.Equal(t, 4, x.version)
	require.Equal(t, 2, store.Len())
	require.ElementsMatch(t, []any{key("z"), key("a/x")}, anys(slices.Collect(store.Keys())))
	requireConsistent(t, store.Snapshot())
}

func anys[E any](list []E) (all []any) {
	for _, e := range list {
		all = append(all, e)
	}
	return all
}

// IX-2
func TestReadersGetTheStoredPointerAndItsVersion(t *testing.T) {
	t.Parallel()
	store, x := newStore(t, nil), &object{}
	require.NoError(t, apply(store, []Op[*object]{{Key: key("a/x"), Object: x, ResourceVersion: "17"}}, "20"))
	e, ok := store.Entry(key("a/x"))
	require.True(t, ok)
	require.Same(t, x, e.Object)
	require.Equal(t, Entry[*object]{Key: key("a/x"), Object: x, ResourceVersion: "17"}, e)
	require.Equal(t, []Entry[*object]{e}, slices.Collect(store.Entries()))
	got, _ := store.Get(key("a/x"))
	require.Same(t, x, got)
}

func TestApplyDoesItsOpsInOrder(t *testing.T) {
	t.Parallel()
	store := newStore(t, byTerm)
	require.NoError(t, apply(store, []Op[*object]{
		put("a/x", &object{version: 1, terms: []string{"one"}}), put("a/x", &object{version: 2, terms: []string{"two"}}),
		put("a/y", &object{}), del("a/y"),
		del("a/z"), put("a/z", &object{version: 3}),
	}, ""))
	require.Equal(t, []string{"a/x", "a/z"}, names(t, store.All()))
	require.Equal(t, []string{"a/x"}, byIndex(t, store.Snapshot(), "term", "two"))
	requireConsistent(t, store.Snapshot())
}

func TestNamespaceSelectsOneNamespaceAndEmptyMeansAll(t *testing.T) {
	t.Parallel()
	store := newStore(t, nil)
	require.NoError(t, apply(store, []Op[*object]{put("a/x", &object{}), put("b/x", &object{}), put("b/y", &object{}), put("node", &object{})}, ""))
	require.Equal(t, []string{"a/x"}, names(t, store.Namespace("a")))
	require.Equal(t, []string{"b/x", "b/y"}, names(t, store.Namespace("b")))
	require.Empty(t, names(t, store.Namespace("c")))
	require.Equal(t, []string{"node", "a/x", "b/x", "b/y"}, names(t, store.Namespace("")))
	require.Equal(t, map[string]int{"a": 1, "b": 2}, counted(t, store.Namespaces(), nil))
	require.NoError(t, apply(store, []Op[*object]{del("a/x"), del("b/x")}, ""))
	require.Equal(t, map[string]int{"b": 1}, counted(t, store.Namespaces(), nil))
}

// IX-13
func TestReplaceSwapsTheWholeContent(t *testing.T) {
	t.Parallel()
	store := newStore(t, byTerm)
	require.NoError(t, apply(store, []Op[*object]{put("a/x", &object{version: 1, terms: []string{"t"}}), put("a/y", &object{terms: []string{"t"}})}, "5"))
	require.NoError(t, replace(store, []Op[*object]{
		put("a/x", &object{version: 2, terms: []string{"u"}}),
		// The last op of a key counts.
		put("a/z", &object{version: 3}), put("a/z", &object{version: 4}),
		put("a/w", &object{}), del("a/w"),
	}, "7"))
	require.Equal(t, []string{"a/x", "a/z"}, names(t, store.All()))
	z, _ := store.Get(key("a/z"))
	require.Equal(t, 4, z.version)
	require.Equal(t, "7", store.ResourceVersion())
	requireConsistent(t, store.Snapshot())

	require.NoError(t, replace(store, nil, "8"))
	require.Zero(t, store.Len())
	requireConsistent(t, store.Snapshot())
}

func TestReplaceKeepsTheStoredStateOfAnObjectThatCannotBeIndexed(t *testing.T) {
	t.Parallel()
	store := newStore(t, byTerm)
	require.NoError(t, apply(store, []Op[*object]{put("a/x", &object{version: 1}), put("a/y", &object{})}, ""))
	require.Error(t, replace(store, []Op[*object]{put("a/x", &object{version: 2, err: errors.New("no")}), put("a/z", &object{})}, ""))
	require.Equal(t, []string{"a/x", "a/z"}, names(t, store.All()))
	x, _ := store.Get(key("a/x"))
	require.Equal(t, 1, x.version)
}

func TestSnapshotNeverChanges(t *testing.T) {
	t.Parallel()
	store := newStore(t, byTerm)
	require.NoError(t, apply(store, []Op[*object]{put("a/x", &object{terms: []string{"t"}}), put("a/y", &object{terms: []string{"t"}})}, "1"))
	before := store.Snapshot()
	all := store.All()
	require.NoError(t, replace(store, []Op[*object]{put("b/z", &object{terms: []string{"u"}})}, "2"))
	require.NoError(t, store.AddIndex("other", termsOfObject))
	require.NoError(t, store.RemoveIndex("term"))

	require.Equal(t, []string{"a/x", "a/y"}, names(t, before.All()))
	require.Equal(t, []string{"a/x", "a/y"}, names(t, before.Namespace("a")))
	require.Equal(t, []string{"a/x", "a/y"}, byIndex(t, before, "term", "t"))
	require.Equal(t, []string{"term"}, before.Indexes())
	require.Equal(t, "1", before.ResourceVersion())
	require.Less(t, before.Revision(), store.Snapshot().Revision())
	require.Equal(t, []string{"b/z"}, names(t, all), "an iterator of the store must read the state at the start of its loop")
	requireConsistent(t, before)
}

func TestIterationMayWriteToTheStore(t *testing.T) {
	t.Parallel()
	store := newStore(t, byTerm)
	for i := range 100 {
		require.NoError(t, apply(store, []Op[*object]{put("a/"+strconv.Itoa(i), &object{})}, ""))
	}
	seen := 0
	for k := range store.All() {
		require.NoError(t, apply(store, []Op[*object]{{Key: k, Delete: true}, put("b/"+k.Name, &object{})}, ""))
		seen++
	}
	require.Equal(t, 100, seen)
	require.Equal(t, map[string]int{"b": 100}, counted(t, store.Namespaces(), nil))
}

func TestIteratorsStopWhenYieldReturnsFalse(t *testing.T) {
	t.Parallel()
	store := newStore(t, byTerm)
	require.NoError(t, apply(store, []Op[*object]{put("a/x", &object{terms: []string{"t", "u"}}), put("b/y", &object{terms: []string{"t"}})}, ""))
	count := 0
	for range store.Keys() {
		count++
		break
	}
	for range store.Entries() {
		count++
		break
	}
	for range Sorted(store.All()) {
		count++
		break
	}
	for range store.Namespaces() {
		count++
		break
	}
	values, err := store.IndexValues("term")
	require.NoError(t, err)
	for range values {
		count++
		break
	}
	require.Equal(t, 5, count)
}

func TestSortedIsByNamespaceThenName(t *testing.T) {
	t.Parallel()
	store := newStore(t, nil)
	require.NoError(t, apply(store, []Op[*object]{put("b/a", &object{}), put("a/c", &object{}), put("ab/a", &object{}), put("a/b", &object{}), put("z", &object{})}, ""))
	require.Equal(t, []string{"z", "a/b", "a/c", "ab/a", "b/a"}, names(t, store.All()))
}

func TestReadingAllocatesNothingPerObject(t *testing.T) {
	store := newStore(t, byTerm)
	ops := benchOps(1000)
	require.NoError(t, apply(store, ops, ""))
	require.Zero(t, allocations(100, func() { store.Get(ops[17].Key) }))
	require.Zero(t, allocations(100, func() { store.Entry(ops[17].Key) }))
	require.Zero(t, allocations(100, func() {
		for range store.All() {
		}
	}))
	require.Zero(t, allocations(100, func() {
		for range store.Namespace("namespace-7") {
		}
	}))
	require.Zero(t, allocations(100, func() {
		for range store.Keys() {
		}
	}))
	require.Zero(t, allocations(100, func() {
		for range store.Entries() {
		}
	}))
	term, err := store.Index("term")
	require.NoError(t, err)
	require.Zero(t, allocations(100, func() {
		for range term.Having("node-7") {
		}
	}))
	// The iterator itself needs no allocation. But ByIndex also returns an error, so the compiler
	// does not inline the iterator. The loop body and its variable escape to the heap.
	require.LessOrEqual(t, allocations(100, func() {
		found, _ := store.ByIndex("term", "node-7")
		for range found {
		}
	}), 2.0)
}

package indexer

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

// IX-3, IX-4
func TestIndexFollowsItsObjects(t *testing.T) {
	t.Parallel()
	store := newStore(t, byTerm)
	steps := []struct {
		op   Op[*object]
		want map[string]int
	}{
		{put("a/x", &object{terms: []string{"t"}}), map[string]int{"t": 1}},
		{put("a/y", &object{terms: []string{"t", "u"}}), map[string]int{"t": 2, "u": 1}},
		{put("a/x", &object{terms: []string{"t"}}), map[string]int{"t": 2, "u": 1}},
		{put("a/x", &object{terms: []string{"v", "u"}}), map[string]int{"t": 1, "u": 2, "v": 1}},
		{put("a/y", &object{}), map[string]int{"u": 1, "v": 1}},
		{del("a/x"), map[string]int{}},
	}
	for _, step := range steps {
		require.NoError(t, apply(store, []Op[*object]{step.op}, ""))
		values, err := store.IndexValues("term")
		require.Equal(t, step.want, counted(t, values, err))
		requireConsistent(t, store.Snapshot())
	}
}

// IX-5
func TestIndexLeavesOutObjectsWithoutValuesAndCountsDuplicatesOnce(t *testing.T) {
	t.Parallel()
	store := newStore(t, byTerm)
	require.NoError(t, apply(store, []Op[*object]{put("a/x", &object{}), put("a/y", &object{terms: []string{"t", "", "t"}})}, ""))
	require.Equal(t, []string{"a/y"}, byIndex(t, store.Snapshot(), "term", "t"))
	require.Equal(t, []string{"a/y"}, byIndex(t, store.Snapshot(), "term", ""), "the empty string is a value")
	requireConsistent(t, store.Snapshot())
	require.NoError(t, apply(store, []Op[*object]{put("a/y", &object{terms: []string{"t"}})}, ""))
	requireConsistent(t, store.Snapshot())
	require.NoError(t, apply(store, []Op[*object]{put("a/y", &object{terms: []string{"t", "t"}}), del("a/y")}, ""))
	requireConsistent(t, store.Snapshot())
}

// IX-8. Unlike in IX-10, IndexValues also returns an error for an unknown name.
func TestUnknownIndexIsAnErrorAndUnknownValueIsNot(t *testing.T) {
	t.Parallel()
	store := newStore(t, byTerm)
	_, err := store.ByIndex("node", "n1")
	require.ErrorIs(t, err, ErrNoIndex)
	require.ErrorContains(t, err, `"node"`)
	require.ErrorContains(t, err, `"term"`, "the error must name the existing indexes")
	_, err = store.IndexValues("node")
	require.ErrorIs(t, err, ErrNoIndex)
	require.ErrorIs(t, store.RemoveIndex("node"), ErrNoIndex)
	require.Empty(t, byIndex(t, store.Snapshot(), "term", "unknown"))
}

// D13, IX-6, IX-14, IX-17
func TestD13_FailingIndexFunctionLeavesOutItsOpAndNoOther(t *testing.T) {
	t.Parallel()
	store := newStore(t, byTerm)
	require.NoError(t, apply(store, []Op[*object]{put("a/x", &object{version: 1, terms: []string{"t"}})}, "1"))
	refused, broken := errors.New("no"), errors.New("broken")
	err := apply(store, []Op[*object]{
		put("a/w", &object{terms: []string{"t"}}),
		put("a/x", &object{version: 2, terms: []string{"u"}, err: refused}),
		put("a/y", &object{version: 3, panic: broken}),
		put("cluster", &object{version: 3, panic: "text"}),
		put("a/z", &object{terms: []string{"u"}}),
	}, "2")

	require.ErrorIs(t, err, refused)
	require.ErrorIs(t, err, broken, "the error must wrap the error with which an index function panicked")
	require.Equal(t, `indexer: index "term" of object a/x: no
indexer: index "term" of object a/y: panic: broken
indexer: index "term" of object cluster: panic: text`, err.Error())
	var failure *IndexError
	require.ErrorAs(t, err, &failure)
	require.Equal(t, IndexError{Index: "term", Key: key("a/x"), Err: refused}, *failure)

	require.Equal(t, []string{"a/w", "a/x", "a/z"}, names(t, store.All()))
	x, _ := store.Get(key("a/x"))
	require.Equal(t, 1, x.version)
	require.Equal(t, []string{"a/w", "a/x"}, byIndex(t, store.Snapshot(), "term", "t"))
	require.Equal(t, []string{"a/z"}, byIndex(t, store.Snapshot(), "term", "u"))
	require.Equal(t, "2", store.ResourceVersion(), "the version must advance, so that WaitRV returns")
	requireConsistent(t, store.Snapshot())

	require.NoError(t, apply(store, []Op[*object]{del("a/x")}, ""))
	requireConsistent(t, store.Snapshot())
}

// D14, IX-3, SI-32: client-go evaluates the old object again, and finds the wrong values.
func TestD14_ModifiedObjectDoesNotCorruptTheIndex(t *testing.T) {
	t.Parallel()
	store := newStore(t, byTerm)
	x, y := &object{terms: []string{"t"}}, &object{terms: []string{"t"}}
	require.NoError(t, apply(store, []Op[*object]{put("a/x", x), put("a/y", y)}, ""))
	x.terms[0] = "modified in the slice that the index function returned"
	y.terms = []string{"modified"}
	require.Equal(t, []string{"a/x", "a/y"}, byIndex(t, store.Snapshot(), "term", "t"))
	require.NoError(t, apply(store, []Op[*object]{put("a/x", &object{terms: []string{"u"}}), del("a/y")}, ""))
	values, err := store.IndexValues("term")
	require.Equal(t, map[string]int{"u": 1}, counted(t, values, err))
}

// D15, IX-16
func TestD15_ResourceVersionNeverGoesDown(t *testing.T) {
	t.Parallel()
	steps := []struct{ apply, want string }{
		{"", ""},
		{"9", "9"},
		{"10", "10"}, // more digits, so higher
		{"9", "10"},
		{"", "10"},
		{"10", "10"},
		{"100000000000000000000000", "100000000000000000000000"}, // larger than any integer type
		{"opaque", "opaque"}, // cannot be compared, so the later version counts
		{"12", "12"},
		{"0", "12"}, // not a version
	}
	store := newStore(t, nil)
	for _, step := range steps {
		require.NoError(t, apply(store, nil, step.apply))
		require.Equal(t, step.want, store.ResourceVersion())
	}
	// Neither the last op of a transaction nor a Replace lowers the version.
	require.NoError(t, apply(store, []Op[*object]{
		{Key: key("a/x"), Object: &object{}, ResourceVersion: "13"}, {Key: key("a/y"), Object: &object{}, ResourceVersion: "3"},
		{Key: key("a/y"), ResourceVersion: "4", Delete: true},
	}, "13"))
	require.Equal(t, "13", store.ResourceVersion())
	require.NoError(t, replace(store, nil, "8"))
	require.Equal(t, "13", store.ResourceVersion())
}

// IX-11
func TestAddIndexCoversStoredObjectsBeforeItReturns(t *testing.T) {
	t.Parallel()
	store := newStore(t, byTerm)
	ops := benchOps(3*backfillSize + 1)
	require.NoError(t, apply(store, ops, ""))
	counts := store.Stats().Counts
	require.NoError(t, store.AddIndex("again", termsOfObject))
	require.Equal(t, []string{"again", "term"}, store.Indexes())
	require.Len(t, byIndex(t, store.Snapshot(), "again", "node-17"), 4)
	require.Equal(t, counts, store.Stats().Counts, "AddIndex must not count as a write")
	e, _ := store.Entry(ops[17].Key)
	require.Equal(t, Entry[*object]{Key: ops[17].Key, Object: ops[17].Object, ResourceVersion: ops[17].ResourceVersion}, e)
	requireConsistent(t, store.Snapshot())
}

// IX-11
func TestAddIndexThatFailsAddsNothing(t *testing.T) {
	t.Parallel()
	store := newStore(t, byTerm)
	require.NoError(t, apply(store, benchOps(2*backfillSize), ""))
	bad := errors.New("bad object")

	require.ErrorIs(t, store.AddIndex("term", termsOfObject), ErrIndexExists)
	require.ErrorContains(t, store.AddIndex("", termsOfObject), "needs a name")
	require.ErrorContains(t, store.AddIndex("node", nil), "no function")
	err := store.AddIndex("node", func(o *object) ([]string, error) {
		if o.terms[0] == "node-17" {
			return nil, bad
		}
		return o.terms, nil
	})
	require.ErrorIs(t, err, bad)
	var failure *IndexError
	require.ErrorAs(t, err, &failure)
	require.Equal(t, "node", failure.Index)
	require.Equal(t, []string{"term"}, store.Indexes())
	requireConsistent(t, store.Snapshot())

	require.NoError(t, store.AddIndex("node", termsOfObject), "the name must be free again")
	requireConsistent(t, store.Snapshot())
}

func TestRemovedIndexLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	store := newStore(t, byTerm)
	require.NoError(t, apply(store, []Op[*object]{put("a/x", &object{terms: []string{"t"}}), put("a/y", &object{terms: []string{"t"}})}, ""))
	require.NoError(t, store.RemoveIndex("term"))
	require.Empty(t, store.Indexes())
	require.NoError(t, apply(store, []Op[*object]{put("a/x", &object{terms: []string{"u"}}), del("a/y")}, ""))
	otherTerms := func(o *object) ([]string, error) { return []string{"other " + o.terms[0]}, nil }
	require.NoError(t, store.AddIndex("term", otherTerms))
	values, err := store.IndexValues("term")
	require.Equal(t, map[string]int{"other u": 1}, counted(t, values, err))
	requireConsistent(t, store.Snapshot(), map[string]IndexFunc[*object]{"term": otherTerms})

	for range 10 {
		require.NoError(t, store.AddIndex("again", termsOfObject))
		require.NoError(t, store.RemoveIndex("again"))
	}
	audit := requireSound(t, store)
	require.LessOrEqual(t, audit.MostTerms, 2, "terms of removed indexes must not accumulate")
	require.LessOrEqual(t, audit.MostPostings, 4)
}

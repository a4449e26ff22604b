package deltafifo_test

import (
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/deltafifo"
	"github.com/kinform/kinform/listwatch"
)

// DF-30. The batch has a flag, which replaces DF-26, DF-27 and DF-28.
func TestTheFirstReplaceIsTheInitialBatchAndNoOtherIs(t *testing.T) {
	t.Parallel()
	f := setup(t, deltafifo.Options{})
	f.add("early", "1")
	require.False(t, f.pop().Initial) // unlike DF-25: single changes do not count as the first list

	f.replace("2", "a@2", "b@2")
	f.replace("3", "a@2")
	b := f.pop()
	require.True(t, b.Initial)
	require.True(t, b.Replaced)
	f.store.apply(b)

	f.replace("4", "a@2")
	b = f.pop()
	require.False(t, b.Initial)
	require.True(t, b.Replaced)
	f.store.apply(b)

	f.update("a", "5")
	require.False(t, f.pop().Replaced)
}

// DF-26, RF-19: a consumer that has applied this batch is synced.
func TestAnEmptyFirstReplaceIsHandedOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := setup(t, deltafifo.Options{})
		f.replace("")
		b := f.pop()
		require.Empty(t, b.Stacks)
		require.True(t, b.Replaced)
		require.True(t, b.Initial)
		f.requireNothing()
	})
}

func TestReplace(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		known  []string
		report func(*fixture)
		want   []string
	}{
		{"queues new objects in the order of the list, DF-17", nil, func(f *fixture) {
			f.replace("1", "b@1", "a@1")
		}, []string{"b: Replaced@1", "a: Replaced@1"}},
		{"deletes objects that only the consumer has, DF-19", []string{"a@1", "b@1"}, func(f *fixture) {
			f.replace("2", "a@1")
		}, []string{"a: Replaced@1", "b: Deleted?@1"}},
		{"deletes pending objects, with their newest state, DF-18", nil, func(f *fixture) {
			f.add("a", "1")
			f.update("a", "2")
			f.replace("3")
		}, []string{"a: Added@1 Updated@2 Deleted?@2"}},
		{"deletes an object that is pending and known once", []string{"a@1"}, func(f *fixture) {
			f.update("a", "2")
			f.replace("3")
		}, []string{"a: Updated@2 Deleted?@2"}},
		{"leaves a pending Deleted alone, DF-18, RF-9", []string{"a@1"}, func(f *fixture) {
			f.del("a", "2")
			f.replace("3")
		}, []string{"a: Deleted@2"}},
		{"does not nest tombstones, DF-18", []string{"a@1"}, func(f *fixture) {
			f.update("a", "2")
			f.replace("3")
			f.replace("4")
		}, []string{"a: Updated@2 Deleted?@2"}},
		{"creates a pending Deleted object again, DF-17, RF-10", []string{"a@1"}, func(f *fixture) {
			f.del("a", "2")
			f.replace("4", "a@3")
		}, []string{"a: Deleted@2 Replaced@3"}},
		{"queues nothing for unchanged objects", []string{"a@1", "b@1"}, func(f *fixture) {
			f.replace("2", "a=", "b=")
		}, []string{}},
		{"keeps pending deltas of unchanged objects", []string{"b@1"}, func(f *fixture) {
			f.add("a", "2")
			f.update("b", "3")
			f.replace("4", "a=", "b=")
		}, []string{"a: Added@2", "b: Updated@3"}},
		{"queues nothing for unchanged objects that are unknown", nil, func(f *fixture) {
			f.replace("2", "undecodable=")
		}, []string{}},
		{"uses the last of two items with one key", nil, func(f *fixture) {
			f.replace("2", "a@1", "b@1", "a@2", "b=")
		}, []string{"a: Replaced@2", "b: Replaced@1"}},
		{"uses the last of two items with one pending key", nil, func(f *fixture) {
			f.add("a", "1")
			f.replace("3", "a=", "a@2", "a@3")
		}, []string{"a: Added@1 Replaced@3"}},
		{"is followed by later deltas", []string{"b@1"}, func(f *fixture) {
			f.replace("2", "a@2", "b=")
			f.update("a", "3")
			f.update("b", "4")
		}, []string{"a: Replaced@2 Updated@3", "b: Updated@4"}},
		{"deletes an object that is then added again", []string{"a@1"}, func(f *fixture) {
			f.replace("2")
			f.add("a", "3")
			f.update("a", "4")
		}, []string{"a: Deleted?@1 Added@3 Updated@4"}},
		{"and a later Delete are one deletion", []string{"a@1"}, func(f *fixture) {
			f.replace("2")
			f.del("a", "3")
			f.add("a", "4")
		}, []string{"a: Deleted@3 Added@4"}},
		{"does not delete unknown objects", nil, func(f *fixture) {
			f.replace("2")
			f.del("ghost", "3")
			f.add("a", "4")
		}, []string{"a: Added@4"}},
		{"before another Replace deletes objects that only the first lacks", []string{"a@1"}, func(f *fixture) {
			f.replace("2")
			f.replace("4", "a@3")
		}, []string{"a: Deleted?@1 Replaced@3"}},
		{"before another Replace deletes objects that only the second lacks", nil, func(f *fixture) {
			f.replace("2", "a@1")
			f.replace("4")
		}, []string{"a: Replaced@1 Deleted?@1"}},
		{"before another Replace keeps objects that both list as unchanged", []string{"a@1", "b@1"}, func(f *fixture) {
			f.replace("2", "a=", "b=")
			f.replace("4", "a=")
		}, []string{"b: Deleted?@1"}},
		{"deletes an object, even if a later Replace lists its key as undecodable", []string{"a@1"}, func(f *fixture) {
			f.replace("2")
			f.replace("4", "a=") // the key now has another object
		}, []string{"a: Deleted?@1"}},
		{"then an Add, then another Replace: two deletions", []string{"a@1"}, func(f *fixture) {
			f.replace("2")
			f.add("a", "3")
			f.replace("4")
		}, []string{"a: Deleted?@1 Added@3 Deleted?@3"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := setup(t, deltafifo.Options{})
			f.replace("1", tt.known...)
			f.popAndApply()
			tt.report(f)
			require.Equal(t, tt.want, f.popAndApply())
		})
	}
}

// This is why Pop computes tombstones: client-go compares a Replace with a store that may not have
// a popped delta yet.
func TestReplaceDuringABatchInFlightIsComparedWithTheAppliedBatch(t *testing.T) {
	t.Parallel()
	f := setup(t, deltafifo.Options{})
	f.replace("1", "a@1", "b@1", "c@1")
	f.popAndApply()

	f.del("a", "2")
	f.update("b", "3")
	f.add("d", "4")
	inFlight := f.pop()
	f.replace("5", "c=") // the store still has a@1 and b@1, and no d
	f.store.apply(inFlight)
	// unordered, DF-20
	require.ElementsMatch(t, []string{"b: Deleted?@3", "d: Deleted?@4"}, f.popAndApply())
	require.Len(t, f.store.contents(), 1)
}

func TestUnchangedItemsMayBePoppedBetweenHasVersionAndReplace(t *testing.T) {
	t.Parallel()
	f := setup(t, deltafifo.Options{})
	f.add("a", "1")
	require.True(t, f.HasVersion(key("a"), "1", 0))
	inFlight := f.pop()
	f.replace("2", "a=")
	f.store.apply(inFlight)
	require.Empty(t, f.popAndApply())
	require.Len(t, f.store.contents(), 1)
}

func TestReplaceOfManyPages(t *testing.T) {
	t.Parallel()
	const n = 5000
	items := make([]string, n)
	for i := range items {
		items[i] = fmt.Sprintf("o%d@1", i)
	}
	f := setup(t, deltafifo.Options{})
	f.replace("1", items...)
	f.update("o17", "2") // must not overwrite the delta of the neighbouring key
	b := f.pop()
	require.Len(t, b.Stacks, n)
	for i, stack := range b.Stacks {
		require.Equal(t, fmt.Sprintf("o%d", i), stack.Key.Name)
		require.Equal(t, items[i], stack.Deltas[0].Object)
	}
	f.store.apply(b)

	f.replace("3", items[:2]...)
	b = f.pop()
	require.Len(t, b.Stacks, n)
	f.store.apply(b)
	require.Len(t, f.store.contents(), 2)
}

// The observer must get a Replace as it was queued, even if another producer, or as here the
// observer, has changed the queue since.
func TestObserverGetsAReplaceAsItWasQueued(t *testing.T) {
	t.Parallel()
	var f *fixture
	var seen []string
	f = setup(t, deltafifo.Options{MaxDeltasPerKey: 2, Observer: &deltafifo.Observer{
		OnDelta: func(key types.NamespacedName, dt deltafifo.DeltaType, rv string) {
			seen = append(seen, key.Name+" "+dt.String()+" "+rv)
			if len(seen) == 3 {
				f.update("b", "8")
				f.update("b", "9")
				f.del("gone", "10")
			}
		},
	}})
	f.update("b", "1")
	f.update("gone", "2")
	f.replace("7", "a@6", "b@7")
	require.Equal(t, []string{
		"b Updated 1", "gone Updated 2",
		"a Replaced 6", "b Updated 8", "b Updated 9", "gone Deleted 10",
		"b Replaced 7", "gone Deleted 2",
	}, seen)
}

// A snapshot of another history marks a delta as Restored even if its version is known, and even
// after a merge with a later state.
func TestOtherHistoryMarksObjectsThatMayDifferAtTheSameVersion(t *testing.T) {
	t.Parallel()
	f := setup(t, deltafifo.Options{MaxDeltasPerKey: 2})
	f.replace("10", "a@8", "b@5")
	f.popAndApply()
	f.update("a", "9")

	require.NoError(t, f.Replace(listwatch.Snapshot[string]{
		Items: []listwatch.Item[string]{{Key: key("a"), Object: "a@7", ResourceVersion: "7"}}, ResourceVersion: "7", OtherHistory: true,
	}))
	require.True(t, f.HasVersion(key("a"), "7", 0))
	require.False(t, f.HasVersion(key("b"), "5", 0))
	f.update("a", "8")

	b := f.pop()
	require.True(t, b.Replaced)
	require.Equal(t, "8", b.ResourceVersion, "the version must go down")
	require.Equal(t, []string{"a: Updated@9 Updated@8", "b: Deleted?@5"}, text(b))
	require.Equal(t, []bool{false, true}, []bool{b.Stacks[0].Deltas[0].Restored, b.Stacks[0].Deltas[1].Restored})

	f.store.apply(b)
	f.update("a", "9")
	require.False(t, f.pop().Stacks[0].Newest().Restored)
	f.Close()
	require.ErrorIs(t, f.Replace(listwatch.Snapshot[string]{ResourceVersion: "7", OtherHistory: true}), deltafifo.ErrClosed)
}

package deltafifo_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/deltafifo"
)

// DF-1, DF-2, DF-9
func TestKeysKeepThePlaceOfTheirFirstDelta(t *testing.T) {
	t.Parallel()
	f := setup(t, deltafifo.Options{})

	f.add("a", "1")
	f.add("b", "2")
	f.update("a", "3")
	f.add("c", "4")
	f.update("a", "5")
	require.Equal(t, 3, f.Stats().Keys)
	require.Equal(t, 5, f.Stats().Deltas)

	b := f.pop()
	require.Equal(t, []string{"a: Added@1 Updated@3 Updated@5", "b: Added@2", "c: Added@4"}, text(b))
	require.Equal(t, "5", b.ResourceVersion)
	require.False(t, b.Replaced)
	require.False(t, b.Initial)
	require.Zero(t, f.Stats().Keys)
}

// DF-3
func TestOnlyConsecutiveDeletesBecomeOne(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		report func(*fixture)
		want   string
	}{
		{"the first of two reported deletes stays", func(f *fixture) {
			f.add("a", "1")
			f.del("a", "2")
			f.del("a", "3")
		}, "a: Added@1 Deleted@2"},
		{"a reported delete replaces a tombstone before it", func(f *fixture) {
			f.add("a", "1")
			f.replace("2")
			f.del("a", "3")
		}, "a: Added@1 Deleted@3"},
		{"a reported delete stays, without a tombstone after it, DF-18", func(f *fixture) {
			f.add("a", "1")
			f.del("a", "2")
			f.replace("3")
		}, "a: Added@1 Deleted@2"},
		{"added, deleted, added stays", func(f *fixture) {
			f.add("a", "1")
			f.del("a", "2")
			f.add("a", "3")
		}, "a: Added@1 Deleted@2 Added@3"},
		{"updates stay", func(f *fixture) {
			f.add("a", "1")
			f.update("a", "2")
			f.update("a", "3")
			f.replace("4", "a@3")
		}, "a: Added@1 Updated@2 Updated@3 Replaced@3"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := setup(t, deltafifo.Options{})
			tt.report(f)
			require.Equal(t, []string{tt.want}, f.popAndApply())
		})
	}
}

// DF-6, D16
func TestDeleteOfAnUnknownKeyIsDroppedButItsVersionIsHandedOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := setup(t, deltafifo.Options{})
		f.del("ghost", "7")
		b := f.pop()
		require.Empty(t, b.Stacks)
		require.Equal(t, "7", b.ResourceVersion)
		require.EqualValues(t, 1, f.Stats().Dropped)

		f.del("ghost", "8")
		f.add("ghost", "9")
		require.Equal(t, []string{"ghost: Added@9"}, f.popAndApply())

		f.del("other", "9")
		f.requireNothing() // there is neither a stack nor a new version
	})
}

// DF-7
func TestDeleteOfAKeyThatIsOnlyPendingIsQueued(t *testing.T) {
	t.Parallel()
	f := setup(t, deltafifo.Options{})
	f.add("a", "1")
	f.del("a", "2")
	require.Equal(t, []string{"a: Added@1 Deleted@2"}, f.popAndApply())
}

func TestDeleteOfAKeyInFlightIsQueued(t *testing.T) {
	t.Parallel()
	f := setup(t, deltafifo.Options{})
	f.add("a", "1")
	inFlight := f.pop()
	f.del("a", "2") // neither pending nor known
	f.store.apply(inFlight)
	require.Equal(t, []string{"a: Deleted@2"}, f.popAndApply())
	require.Empty(t, f.store.contents())
}

func TestDeleteOfAKeyThatIsDeletedInFlightIsDropped(t *testing.T) {
	t.Parallel()
	f := setup(t, deltafifo.Options{})
	f.add("a", "1")
	f.popAndApply()
	f.del("a", "2")
	inFlight := f.pop()
	f.del("a", "3") // still known
	f.store.apply(inFlight)
	require.Empty(t, f.popAndApply())
}

// DF-14
func TestAKeyInFlightThatIsQueuedAgainGoesToTheTail(t *testing.T) {
	t.Parallel()
	f := setup(t, deltafifo.Options{})
	f.add("a", "1")
	f.add("b", "2")
	inFlight := f.pop()
	f.update("b", "3")
	f.update("a", "4")
	f.store.apply(inFlight)
	require.Equal(t, []string{"b: Updated@3", "a: Updated@4"}, f.popAndApply())
}

func TestBookmarkWakesPopOnlyIfItsVersionIsNew(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := setup(t, deltafifo.Options{})
		go func() {
			time.Sleep(time.Minute)
			require.NoError(t, f.Bookmark("10"))
		}()
		b := f.pop()
		require.Empty(t, b.Stacks)
		require.Equal(t, "10", b.ResourceVersion)

		require.NoError(t, f.Bookmark("10"))
		f.requireNothing()
		require.EqualValues(t, 1, f.Stats().Batches)
	})
}

// Unlike in DF-16 and RF-14, versions are handed out.
func TestBatchHasTheNewestReportedVersion(t *testing.T) {
	t.Parallel()
	f := setup(t, deltafifo.Options{})
	require.Empty(t, f.Stats().ResourceVersion)
	require.NoError(t, f.Resync())
	f.add("a", "5")
	require.NoError(t, f.Bookmark("6"))
	require.Equal(t, "6", f.pop().ResourceVersion)
	f.replace("4") // the version of the producer, even if it is lower
	require.Equal(t, "4", f.pop().ResourceVersion)
	f.add("b", "")
	require.Equal(t, "4", f.pop().ResourceVersion)
}

// DF-23, RF-13
func TestResyncSyncsEachKnownKeyWithoutPendingDeltas(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := setup(t, deltafifo.Options{})
		require.NoError(t, f.Resync())
		f.requireNothing() // no key is known

		f.replace("1", "a@1", "b@1", "c@1")
		inFlight := f.pop()
		require.NoError(t, f.Resync()) // has no effect yet: the next Pop adds the Syncs
		f.update("b", "2")
		f.store.apply(inFlight)
		b := f.pop()
		require.Equal(t, "b: Updated@2", text(b)[0])
		require.ElementsMatch(t, []string{"a: Sync@1", "b: Updated@2", "c: Sync@1"}, text(b))
		require.Equal(t, "2", b.ResourceVersion)
		f.store.apply(b)

		require.NoError(t, f.Resync())
		require.NoError(t, f.Resync()) // a second Resync has no effect
		f.replace("3", "a=", "b@3")
		require.ElementsMatch(t, []string{"b: Replaced@3", "a: Sync@1", "c: Deleted?@1"}, f.popAndApply())
		f.requireNothing()
	})
}

func TestUpdatesBeyondTheLimitMergeAndAddsAndDeletesDoNot(t *testing.T) {
	t.Parallel()
	report := func(f *fixture) {
		f.add("a", "1")
		f.update("a", "2")
		f.update("a", "3")
		f.del("a", "4")
		f.add("a", "5")
		f.update("a", "6")
		f.update("a", "7")
		f.replace("8", "a@7")
		f.update("a", "9")
	}
	for _, tt := range []struct {
		limit  int
		want   string
		merged uint64
	}{
		{-1, "a: Added@1 Updated@2 Updated@3 Deleted@4 Added@5 Updated@6 Updated@7 Replaced@7 Updated@9", 0},
		{0, "a: Added@1 Updated@2 Updated@3 Deleted@4 Added@5 Updated@6 Updated@7 Replaced@7 Updated@9", 0},
		{1, "a: Added@1 Updated@3 Deleted@4 Added@5 Updated@9", 4},
		{2, "a: Added@1 Updated@3 Deleted@4 Added@5 Updated@9", 4},
		{3, "a: Added@1 Updated@2 Updated@3 Deleted@4 Added@5 Updated@9", 3},
	} {
		t.Run(fmt.Sprint(tt.limit), func(t *testing.T) {
			t.Parallel()
			f := setup(t, deltafifo.Options{MaxDeltasPerKey: tt.limit})
			report(f)
			require.Equal(t, tt.merged, f.Stats().Merged)
			require.Equal(t, []string{tt.want}, f.popAndApply())
		})
	}
}

func TestTheStateAfterADeletedStaysBeyondTheLimit(t *testing.T) {
	t.Parallel()
	f := setup(t, deltafifo.Options{MaxDeltasPerKey: 2})
	f.del("unknown", "1") // the next Pop drops it
	f.replace("3", "unknown@2")
	f.update("unknown", "4")
	f.update("unknown", "5")
	require.Equal(t, []string{"unknown: Replaced@2 Updated@5"}, f.popAndApply())

	f.update("unknown", "6")
	f.del("unknown", "7")
	f.replace("9", "unknown@8")
	require.Equal(t, []string{"unknown: Updated@6 Deleted@7 Replaced@8"}, f.popAndApply())
}

func TestTheDefaultLimitBoundsABusyKey(t *testing.T) {
	t.Parallel()
	f := setup(t, deltafifo.Options{})
	for i := range 1000 {
		f.update("lease", fmt.Sprint(i))
	}
	require.Equal(t, 64, f.Stats().Deltas)
	stack := f.pop().Stacks[0]
	require.Equal(t, "0", stack.Deltas[0].ResourceVersion)
	require.Equal(t, "999", stack.Newest().ResourceVersion)
}

// DF-13, RF-7. D26: Resync also returns ErrClosed.
func TestCloseRefusesChangesAndPopHandsOutTheRest(t *testing.T) {
	t.Parallel()
	f := setup(t, deltafifo.Options{})
	f.add("a", "1")
	f.Close()
	f.Close()

	require.ErrorIs(t, f.Add(key("b"), "", "2"), deltafifo.ErrClosed)
	require.ErrorIs(t, f.Update(key("b"), "", "2"), deltafifo.ErrClosed)
	require.ErrorIs(t, f.Delete(key("b"), "", "2"), deltafifo.ErrClosed)
	require.ErrorIs(t, f.Bookmark("2"), deltafifo.ErrClosed)
	require.ErrorIs(t, f.Resync(), deltafifo.ErrClosed)
	require.ErrorIs(t, f.Replace(snapshot("2")), deltafifo.ErrClosed)

	b := f.pop()
	require.Equal(t, []string{"a: Added@1"}, text(b))
	require.Equal(t, "1", b.ResourceVersion)
	for range 2 {
		_, err := f.Pop(context.Background())
		require.ErrorIs(t, err, deltafifo.ErrClosed)
	}
}

// DF-13
func TestCloseWakesAWaitingPop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := setup(t, deltafifo.Options{})
		time.AfterFunc(time.Second, f.Close)
		_, err := f.Pop(context.Background())
		require.ErrorIs(t, err, deltafifo.ErrClosed)
	})
}

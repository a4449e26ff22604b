package deltafifo_test

import (
	"context"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/deltafifo"
	"github.com/kinform/kinform/listwatch"
)

func TestPopWaitsForADelta(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := setup(t, deltafifo.Options{})
		time.AfterFunc(time.Second, func() { f.add("a", "1") })
		start := time.Now()
		require.Equal(t, []string{"a: Added@1"}, f.popAndApply())
		require.Equal(t, time.Second, time.Since(start))
	})
}

func TestPopReturnsTheContextsErrorAndLosesNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := setup(t, deltafifo.Options{})
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(time.Second, cancel)
		_, err := f.Pop(ctx)
		require.ErrorIs(t, err, context.Canceled)

		f.add("a", "1")
		_, err = f.Pop(ctx) // must return the error of ctx, even if deltas are pending
		require.ErrorIs(t, err, context.Canceled)
		require.Equal(t, []string{"a: Added@1"}, f.popAndApply())
	})
}

func TestTheNextPopMarksTheBatchAsApplied(t *testing.T) {
	t.Parallel()
	f := setup(t, deltafifo.Options{})
	f.add("a", "1")
	b := f.pop()
	require.Equal(t, 1, f.Stats().InFlight)
	require.False(t, f.HasVersion(key("a"), "1", 0), "HasVersion must return false for a key in flight")

	f.store.apply(b)
	require.False(t, f.HasVersion(key("a"), "1", 0), "applied, but not confirmed by a Pop")

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := f.Pop(ctx)
	require.Error(t, err)
	require.True(t, f.HasVersion(key("a"), "1", 0), "HasVersion must return true after the next Pop")
	require.Zero(t, f.Stats().InFlight)
}

// Applied returns true for a number when the batch with this number is applied.
func TestBatchesAreAppliedInOrder(t *testing.T) {
	t.Parallel()
	f := setup(t, deltafifo.Options{})
	require.True(t, f.Applied(f.BatchNumber()), "without a delta, Applied must return true")
	f.add("a", "1")
	first := f.BatchNumber()
	b := f.pop()
	require.Equal(t, first, b.Number)
	require.Equal(t, first, f.BatchNumber())
	f.add("b", "2")
	second := f.BatchNumber()
	require.Greater(t, second, first)
	require.False(t, f.Applied(first), "the batch must not count as applied before the next Pop")

	f.store.apply(b)
	b = f.pop()
	require.Equal(t, second, b.Number)
	require.True(t, f.Applied(first))
	require.False(t, f.Applied(second), "the batch must not count as applied before the next Pop")
}

// If Pop drops the only event, Applied returns true for its number, although there is no batch.
func TestADroppedBatchCountsAsApplied(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := setup(t, deltafifo.Options{})
		require.NoError(t, f.Apply(listwatch.Event[string]{Type: listwatch.Deleted, Item: one("a", "1"), Unordered: true}))
		batch := f.BatchNumber()
		require.False(t, f.Applied(batch))
		go func() { _, _ = f.Pop(context.Background()) }()
		synctest.Wait()
		require.True(t, f.Applied(batch))
		f.Close()
	})
}

func TestASecondConsumerPanics(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := setup(t, deltafifo.Options{})
		first := make(chan error)
		go func() {
			_, err := f.Pop(context.Background())
			first <- err
		}()
		synctest.Wait()
		require.PanicsWithValue(t, "deltafifo: Pop was called by two goroutines at once; a queue has one consumer",
			func() { _, _ = f.Pop(context.Background()) })
		f.Close()
		require.ErrorIs(t, <-first, deltafifo.ErrClosed)
	})
}

func TestNewWithoutKnownPanics(t *testing.T) {
	t.Parallel()
	require.Panics(t, func() { deltafifo.New[string](nil, deltafifo.Options{}) })
}

func TestHasVersionIsAboutTheNewestState(t *testing.T) {
	t.Parallel()
	f := setup(t, deltafifo.Options{})
	has := func(name, rv string) bool { return f.HasVersion(key(name), rv, 0) }

	f.replace("1", "known@1", "updated@1", "deleted@1", "vanished@1", "versionless@")
	f.popAndApply()
	f.update("updated", "2")
	f.del("deleted", "3")
	f.add("added", "4")
	f.markApplied()

	require.True(t, has("known", "1"))
	require.False(t, has("known", "2"))
	require.False(t, has("known", ""))
	require.False(t, has("unknown", "1"))
	require.False(t, has("unknown", ""))
	require.False(t, has("versionless", ""))
	require.True(t, has("updated", "2"), "the pending state must count")
	require.False(t, has("updated", "1"), "a newer state must replace this one")
	require.False(t, has("deleted", "1"))
	require.False(t, has("deleted", "3"))
	require.True(t, has("added", "4"))

	f.replace("5", "known=", "updated@2", "added=")
	require.True(t, has("known", "1"), "the Replace must keep the object")
	require.True(t, has("added", "4"), "the Replace must keep the object")
	require.False(t, has("vanished", "1"), "the next Pop adds a tombstone, so the version must not count")
	b := f.pop()
	require.True(t, has("known", "1"), "an object outside the batch must keep its version")
	require.False(t, has("vanished", "1"), "its tombstone is in flight, although the store has the object")
	f.store.apply(b)
	require.False(t, has("vanished", "1"))
}

// hookedPopStore is a Known that calls the queue while the queue calls it.
type hookedPopStore struct {
	*store
	onLastApplied func()
}

func (s *hookedPopStore) LastApplied(key types.NamespacedName) (string, string, uint64, bool) {
	s.onLastApplied()
	return s.store.LastApplied(key)
}

func (s *hookedPopStore) AllKeys() iter.Seq[types.NamespacedName] {
	s.onLastApplied()
	return s.store.AllKeys()
}

func TestKnownIsReadWithoutALockAndVanishingKeysCountAsInFlight(t *testing.T) {
	t.Parallel()
	c := &hookedPopStore{store: newStore(), onLastApplied: func() {}}
	f := &fixture{deltafifo.New(c, deltafifo.Options{}), t, c.store}
	f.replace("1", "vanished@1")
	f.popAndApply()

	f.replace("2")
	f.del("ghost", "3")
	calls := 0
	c.onLastApplied = func() {
		calls++
		f.Stats()
		require.False(t, f.HasVersion(key("vanished"), "1", 0))
		f.add("late", "4") // belongs to the next batch
	}
	b := f.pop()
	c.onLastApplied = func() {}
	require.Equal(t, 3, calls, "the queue must call LastApplied of ghost, AllKeys, and LastApplied of vanished")
	require.Equal(t, []string{"vanished: Deleted?@1"}, text(b))
	require.Equal(t, "3", b.ResourceVersion)
	f.store.apply(b)
	require.Equal(t, []string{"late: Added@4 Added@4 Added@4"}, f.popAndApply())
}

// markApplied confirms to the queue that the last batch is applied, by a Pop that returns no batch.
func (f *fixture) markApplied() {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := f.Pop(ctx)
	require.Error(f.t, err)
}

func TestObserverSeesEachDeltaAndEachBatch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var seen []string
		var batches []deltafifo.BatchInfo
		var f *fixture
		f = setup(t, deltafifo.Options{Observer: &deltafifo.Observer{
			OnDelta: func(key types.NamespacedName, dt deltafifo.DeltaType, rv string) {
				f.Stats() // works because the queue holds no lock here
				seen = append(seen, key.Name+" "+dt.String()+" "+rv)
			},
			OnBatch: func(b deltafifo.BatchInfo) {
				f.Stats()
				batches = append(batches, b)
			},
		}})

		f.replace("1", "a@1", "b@1", "gone@1")
		time.Sleep(time.Second)
		f.add("short", "2")
		require.Equal(t, time.Second, f.Stats().OldestAge)
		f.popAndApply()

		f.update("a", "3")
		f.add("short-lived", "4")
		require.NoError(t, f.Resync())
		f.replace("5", "a@3", "short=", "b=")
		f.add("gone", "6")
		time.Sleep(time.Minute)
		f.popAndApply()

		require.Equal(t, []string{
			"a Replaced 1", "b Replaced 1", "gone Replaced 1", "short Added 2",
			"a Updated 3", "short-lived Added 4", "a Replaced 3", "short-lived Deleted 4", "gone Added 6",
			"gone Deleted 1", // added by Pop
		}, seen[:10])
		require.ElementsMatch(t, []string{"short Sync 2", "b Sync 1"}, seen[10:])
		require.Equal(t, []deltafifo.BatchInfo{
			{Keys: 4, Deltas: 4, ResourceVersion: "2", Replaced: true, Initial: true, Waited: time.Second},
			{Keys: 5, Deltas: 8, ResourceVersion: "6", Replaced: true, Waited: time.Minute},
		}, batches)
		require.Equal(t, deltafifo.Stats{
			InFlight: 5, ResourceVersion: "6", Queued: 12, Batches: 2, Replaces: 2,
		}, f.Stats())
	})
}

func TestAnObserverWithoutHooksIsFine(t *testing.T) {
	t.Parallel()
	f := setup(t, deltafifo.Options{Observer: &deltafifo.Observer{}})
	f.replace("1", "a@1")
	require.Equal(t, []string{"a: Replaced@1"}, f.popAndApply())
}

func TestDeltaTypesHaveNames(t *testing.T) {
	t.Parallel()
	require.Equal(t, "Replaced", deltafifo.Replaced.String())
	require.Equal(t, "DeltaType(0)", deltafifo.DeltaType(0).String())
}

package workqueue_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/workqueue"
)

func TestKeysComeInTheOrderOfTheirFirstAdd(t *testing.T) { // WQ-1, WQ-5
	t.Parallel()
	q := newQueue()
	for _, key := range []string{"c", "a", "c", "b", "a"} {
		q.Add(key)
	}
	require.Equal(t, 3, q.Len())
	require.Equal(t, []string{"c", "a", "b"}, takeAll(t, q))
}

func TestAKeyAddedWhileProcessedComesBackAtTheEnd(t *testing.T) { // WQ-3, WQ-4, WQ-5
	t.Parallel()
	q := newQueue()
	q.Add("a")
	require.Equal(t, "a", get(t, q))
	for range 5 {
		q.Add("a")
	}
	q.Add("b")
	require.Equal(t, 1, q.Len(), "a waits for its Done")
	q.Done("a")
	require.Equal(t, []string{"b", "a"}, takeAll(t, q))
	require.Zero(t, q.Len(), "five adds gave one more run")
}

func TestLenCountsOnlyReadyKeys(t *testing.T) { // WQ-6
	t.Parallel()
	q := newQueue()
	q.Add("processing and added again")
	get(t, q)
	q.Add("processing and added again")
	require.Zero(t, q.Len())
	q.Add("ready")
	require.Equal(t, 1, q.Len())
}

func TestAfterShutDownQueuedKeysAreStillHandedOut(t *testing.T) { // WQ-1, WQ-2, WQ-10
	t.Parallel()
	q := newQueue()
	q.Add("processed, then again")
	get(t, q)
	q.Add("processed, then again")
	q.Add("queued")
	q.ShutDown()
	q.ShutDown()
	q.Add("too late")
	q.AddAfter("too late", 0)

	require.Equal(t, "queued", get(t, q))
	_, err := q.Get(t.Context())
	require.ErrorIs(t, err, workqueue.ErrShutDown, "WQ-11: although a key is still to come")
	q.Done("processed, then again")
	require.Equal(t, "processed, then again", get(t, q))
	_, err = q.Get(t.Context())
	require.ErrorIs(t, err, workqueue.ErrShutDown)
	require.EqualValues(t, 2, q.Stats().Refused)
}

func TestAKeyThatIsNotHashableLeavesTheQueueUsable(t *testing.T) {
	t.Parallel()
	q := workqueue.New(workqueue.Options[any]{})
	require.Panics(t, func() { q.Add([]string{"a slice"}) })
	require.Panics(t, func() { q.AddAfter([]string{"a slice"}, 1) })
	require.Panics(t, func() { q.Done([]string{"a slice"}) })
	q.Add("a")
	require.Equal(t, []any{"a"}, takeAll(t, q))
	require.NoError(t, q.Verify())
	require.NoError(t, q.Drain(t.Context()))
}

func TestCancelRemovesThePendingRunAndTheDelay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue()
		require.False(t, q.Cancel("unknown"))
		q.Add("ready")
		q.Add("other")
		q.AddAfter("delayed", time.Minute)
		q.Add("both")
		q.AddAfter("both", time.Minute)
		for _, key := range []string{"ready", "delayed", "both"} {
			require.True(t, q.Cancel(key), key)
			require.False(t, q.Cancel(key), key)
			require.NoError(t, q.Verify())
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		require.Equal(t, []string{"other"}, takeAll(t, q))
		s := q.Stats()
		require.EqualValues(t, 3, s.Cancelled)
		require.EqualValues(t, 2, s.Dropped)
		require.Empty(t, q.Inspect())

		q.Add("ready")
		require.Equal(t, []string{"ready"}, takeAll(t, q), "a key that is added after Cancel is handed out as usual")
		q.ShutDown()
	})
}

func TestCancelDoesNotStopAWorker(t *testing.T) {
	t.Parallel()
	q := newQueue()
	q.Add("a")
	get(t, q)
	require.False(t, q.Cancel("a"))
	q.Add("a")
	require.True(t, q.Cancel("a"))
	q.Done("a")
	require.Zero(t, q.Len(), "it is not handed out again")
	require.Zero(t, q.Stats().StrayDones)
}

func TestCancelCanEndADrain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue()
		q.Add("a")
		drained := make(chan error, 1)
		go func() { drained <- q.Drain(t.Context()) }()
		synctest.Wait()
		require.Empty(t, drained)
		require.True(t, q.Cancel("a"))
		require.NoError(t, <-drained)
	})
}

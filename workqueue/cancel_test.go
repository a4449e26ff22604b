package workqueue_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

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

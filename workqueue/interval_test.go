package workqueue_test

import (
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/workqueue"
)

// newWithMinInterval returns a queue with a MinInterval, and the journal of its worker. The worker
// takes the time needs for each key, and ends with the queue.
func newWithMinInterval(interval, needs time.Duration) (*workqueue.Queue[string], *journal) {
	q := workqueue.New(workqueue.Options[string]{MinInterval: interval})
	runs := newJournal()
	go serve(q, func(key string) {
		runs.note(key)
		time.Sleep(needs)
	})
	return q, runs
}

func TestMinIntervalRunsAKeyAtOnceAndOnceAtItsEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q, runs := newWithMinInterval(10*time.Second, 0)
		for range 25 { // each second for 25 s
			q.Add("a")
			time.Sleep(time.Second)
		}
		time.Sleep(time.Minute)
		q.Add("a")
		synctest.Wait()
		require.Equal(t, []string{"a @0s", "a @10s", "a @20s", "a @30s", "a @1m25s"}, runs.all())
		require.NoError(t, q.Drain(t.Context()))
	})
}

func TestMinIntervalIsPerKey(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q, runs := newWithMinInterval(10*time.Second, 0)
		for _, key := range []string{"a", "b", "a"} {
			q.Add(key)
			time.Sleep(time.Second)
		}
		time.Sleep(time.Minute)
		require.Equal(t, []string{"a @0s", "b @1s", "a @10s"}, runs.all())
		require.NoError(t, q.Drain(t.Context()))
	})
}

func TestARunMayBeLongerThanMinInterval(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q, runs := newWithMinInterval(10*time.Second, 25*time.Second)
		q.Add("a")
		time.Sleep(time.Second)
		q.Add("a")
		time.Sleep(time.Minute)
		require.Equal(t, []string{"a @0s", "a @25s"}, runs.all())
		require.NoError(t, q.Drain(t.Context()))
	})
}

func TestAnIntervalHoldsForDelayedAddsAndRetries(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q, runs := newWithMinInterval(10*time.Second, 0)
		q.Add("a")
		synctest.Wait()
		q.AddAfter("a", 3*time.Second)
		q.Retry("a")
		time.Sleep(time.Minute)
		require.Equal(t, []string{"a @0s", "a @10s"}, runs.all())
		q.AddAfter("a", 15*time.Second)
		time.Sleep(time.Minute)
		require.Equal(t, "a @1m15s", runs.all()[2])
		require.NoError(t, q.Drain(t.Context()))
	})
}

func TestShutDownDoesNotWaitForIntervals(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q, runs := newWithMinInterval(time.Hour, 0)
		q.Add("a")
		q.Add("b")
		synctest.Wait()
		q.Add("a")
		synctest.Wait()
		state, ok := q.Lookup("a")
		require.True(t, ok)
		require.True(t, state.Dirty)
		require.False(t, state.Ready)
		require.Equal(t, time.Hour, time.Until(state.Cooling))
		require.NoError(t, q.Drain(t.Context()))
		require.Equal(t, []string{"a @0s", "b @0s", "a @0s"}, runs.all(), "at ShutDown, dirty keys in their interval run at once")
	})
}

func TestKeysWhoseIntervalIsOverAreForgotten(t *testing.T) { // WQ-7
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q, _ := newWithMinInterval(time.Minute, 0)
		for i := range 1000 {
			q.Add(fmt.Sprint(i))
		}
		synctest.Wait()
		require.Len(t, q.Inspect(), 1000)
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Empty(t, q.Inspect())
		require.NoError(t, q.Verify())
		require.NoError(t, q.Drain(t.Context()))
	})
}

func TestADelayAndAnIntervalThatEndTogetherMakeTheirKeyReady(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.New(workqueue.Options[string]{MinInterval: 10 * time.Second})
		q.Add("a")
		get(t, q)
		q.Done("a")
		q.Add("a")
		q.AddAfter("a", 10*time.Second)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		require.NoError(t, q.Verify())
		require.Equal(t, []string{"a"}, takeAll(t, q))
		require.NoError(t, q.Drain(t.Context()))
	})
}

func TestAnIntervalWithoutEndDoesNotKeepAQueueFromDraining(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.New(workqueue.Options[string]{MinInterval: math.MaxInt64})
		q.Add("a")
		get(t, q)
		q.AddAfter("a", time.Second)
		q.Done("a")
		time.Sleep(time.Hour)
		synctest.Wait()
		require.NoError(t, q.Verify())
		require.Zero(t, q.Len())
		q.ShutDown()
		require.Equal(t, []string{"a"}, takeAll(t, q))
		require.NoError(t, q.Drain(t.Context()))
	})
}

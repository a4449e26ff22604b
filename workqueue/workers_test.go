package workqueue_test

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTheNumberOfWorkersCanChange(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue()
		var working, cancelled atomic.Int64
		end := running(t, q, 2, func(ctx context.Context, _ string) error {
			working.Add(1)
			defer working.Add(-1)
			time.Sleep(time.Minute)
			if ctx.Err() != nil {
				cancelled.Add(1)
			}
			return nil
		})
		for i := range 1000 {
			q.Add(fmt.Sprint(i))
		}
		at := func(workers int64) {
			t.Helper()
			synctest.Wait()
			require.Equal(t, workers, working.Load())
		}
		at(2)
		require.NoError(t, q.SetWorkers(5))
		at(5)
		time.Sleep(30 * time.Second)
		require.NoError(t, q.SetWorkers(1))
		at(5) // a worker with a key continues with it
		time.Sleep(time.Minute)
		at(1)
		require.NoError(t, q.SetWorkers(10))
		at(10)
		time.Sleep(2 * time.Hour)
		require.NoError(t, end())
		require.Zero(t, cancelled.Load())
		require.EqualValues(t, 1000, q.Stats().Dones)
	})
}

func TestSetWorkersStopsIdleWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue()
		before := runtime.NumGoroutine()
		end := running(t, q, 50, func(context.Context, string) error { return nil })
		synctest.Wait()
		require.NoError(t, q.SetWorkers(1))
		synctest.Wait()
		require.LessOrEqual(t, runtime.NumGoroutine(), before+5)
		q.Add("a")
		synctest.Wait()
		require.EqualValues(t, 1, q.Stats().Dones, "the remaining worker goes on")
		require.NoError(t, end())
	})
}

func TestSetWorkersNeedsARunAndAWorker(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue()
		require.EqualError(t, q.SetWorkers(2), `workqueue "test": no Run is in progress`)
		end := running(t, q, 1, func(context.Context, string) error { return nil })
		synctest.Wait()
		require.ErrorContains(t, q.SetWorkers(0), "at least one worker, got 0")
		require.EqualError(t, q.Run(t.Context(), 1, func(context.Context, string) error { return nil }),
			`workqueue "test": another Run is in progress`)
		require.NoError(t, end())
		require.Error(t, q.SetWorkers(2))
	})
}

func TestNoWorkerStartsWhileARunEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue()
		var begun atomic.Int64
		reconcile := func(context.Context, string) error {
			begun.Add(1)
			time.Sleep(time.Minute) // even if its context ends
			return nil
		}
		end := running(t, q, 1, reconcile)
		for _, key := range []string{"a", "b", "c"} {
			q.Add(key)
		}
		synctest.Wait()
		ended := make(chan error, 1)
		go func() { ended <- end() }()
		synctest.Wait()
		require.Error(t, q.SetWorkers(5))
		require.Error(t, q.Run(t.Context(), 1, reconcile))
		require.NoError(t, <-ended)
		require.EqualValues(t, 1, begun.Load(), "no further key is begun")

		require.NoError(t, q.Run(t.Context(), 2, reconcile), "another Run may process the rest")
		require.EqualValues(t, 3, begun.Load())
	})
}

// The key of a stopped worker was added again, and all other workers have ended before the stopped
// worker is done.
func TestAStoppedWorkerLeavesNoKeyBehindIfItIsTheLast(t *testing.T) { // WQ-11
	t.Parallel()
	for _, slow := range []string{"a", "b"} { // the stopped worker has one of these keys
		synctest.Test(t, func(t *testing.T) {
			q := newQueue()
			var runs atomic.Int64
			end := running(t, q, 2, func(_ context.Context, key string) error {
				runs.Add(1)
				if key == slow {
					time.Sleep(time.Minute)
				} else {
					time.Sleep(time.Second)
				}
				return nil
			})
			q.Add("a")
			q.Add("b")
			synctest.Wait()
			q.Add(slow)
			require.NoError(t, q.SetWorkers(1))
			q.ShutDown()
			limit, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			require.NoError(t, q.Drain(limit))
			require.EqualValues(t, 3, runs.Load())
			require.NoError(t, end())
		})
	}
}

func TestGoexitInAReconcileIsAFailureAndTheWorkerIsReplaced(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue()
		runs := newJournal()
		end := running(t, q, 1, func(_ context.Context, key string) error {
			runs.note(key)
			if len(runs.all()) == 1 {
				runtime.Goexit()
			}
			return nil
		})
		q.Add("a")
		q.Add("b")
		time.Sleep(time.Second)
		require.Equal(t, []string{"a @0s", "b @0s", "a @5ms"}, runs.all())
		require.EqualValues(t, 1, q.Stats().Failures)
		require.NoError(t, end())
	})
}

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
		at(5) // who has a key goes on with it
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

func TestIdleWorkersCanBeDismissed(t *testing.T) {
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
		require.EqualValues(t, 1, q.Stats().Dones, "the one that is left works")
		require.NoError(t, end())
	})
}

func TestSetWorkersNeedsARunAndAWorker(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue()
		require.EqualError(t, q.SetWorkers(2), `workqueue "test": no Run is going on`)
		end := running(t, q, 1, func(context.Context, string) error { return nil })
		synctest.Wait()
		require.ErrorContains(t, q.SetWorkers(0), "at least one worker, got 0")
		require.EqualError(t, q.Run(t.Context(), 1, func(context.Context, string) error { return nil }),
			`workqueue "test": a Run is going on already`)
		require.NoError(t, end())
		require.Error(t, q.SetWorkers(2))
	})
}

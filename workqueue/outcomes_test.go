package workqueue_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/workqueue"
)

// Each run of Run counts once, by its result, and the sum equals Dones.
func TestStatsCountRunsByOutcome(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue()
		broken := errors.New("broken")
		results := map[string]error{
			"fine": nil, "after": workqueue.RequeueAfter(time.Hour), "retry": broken, "drop": workqueue.Drop(broken),
			"when":            workqueue.RequeueWhen(func(ctx context.Context) error { <-ctx.Done(); return nil }),
			"drop and after":  errors.Join(workqueue.Drop(broken), workqueue.RequeueAfter(time.Hour)),
			"retry and after": errors.Join(broken, workqueue.RequeueAfter(time.Hour)),
		}
		for key := range results {
			q.Add(key)
		}
		// The result is an ordinary error while the context of the run is alive. Its key is added
		// later.
		results["waits"] = context.Canceled
		q.Add("panics")
		q.Add("hangs")
		q.Add("leaves")
		ctx, cancel := context.WithCancel(t.Context())
		var runs sync.Map
		ended := make(chan error)
		go func() {
			ended <- q.Run(ctx, 1, func(ctx context.Context, key string) error {
				if _, again := runs.LoadOrStore(key, true); again {
					return nil
				}
				switch key {
				case "panics":
					panic("over")
				case "hangs":
					time.Sleep(2 * time.Second)
				case "leaves":
					q.Done(key) // a worker should not do this
				}
				return results[key]
			})
		}()
		synctest.Wait()
		require.Equal(t, 1, q.Stats().Workers)
		time.Sleep(time.Second)
		require.Equal(t, time.Second, q.Stats().Unfinished)
		time.Sleep(time.Minute)
		q.Add("waits")
		synctest.Wait()
		q.Add("also fine")
		require.NoError(t, q.SetWorkers(2))
		synctest.Wait()
		s := q.Stats()
		require.Equal(t, 2, s.Workers)
		require.Equal(t, workqueue.Outcomes{
			Succeeded: 3 + 3, RequeuedAfter: 1, RequeuedWhen: 1, Retried: 4, Dropped: 2,
		}, s.Outcomes, "three succeeded at once, and three the second time; one left by hand, which counts for none")
		require.EqualValues(t, 1, s.StrayDones)
		require.Equal(t, s.Failures, s.Outcomes.Retried+s.Outcomes.Dropped)
		cancel()
		require.NoError(t, <-ended)
		require.Zero(t, q.Stats().Workers)
		require.Zero(t, q.Stats().Unfinished)
	})
}

// A reconcile that its context interrupted does not count as a failure.
func TestStatsCountAnInterruptedRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue()
		q.Add("a")
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() {
			ended <- q.Run(ctx, 1, func(ctx context.Context, _ string) error { <-ctx.Done(); return ctx.Err() })
		}()
		synctest.Wait()
		cancel()
		require.NoError(t, <-ended)
		require.Equal(t, workqueue.Outcomes{Interrupted: 1}, q.Stats().Outcomes)
		require.EqualValues(t, 1, q.Stats().Dones)
	})
}

// If times are kept only from the first Run on, keys with workers count from that moment.
func TestUnfinishedCountsFromWhenTimesAreKept(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.New(workqueue.Options[string]{})
		for _, key := range []string{"a", "b"} {
			q.Add(key)
			_, err := q.Get(t.Context())
			require.NoError(t, err)
		}
		time.Sleep(time.Hour)
		require.Zero(t, q.Stats().Unfinished)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- q.Run(ctx, 1, func(context.Context, string) error { return nil }) }()
		synctest.Wait()
		time.Sleep(time.Minute)
		require.Equal(t, 2*time.Minute, q.Stats().Unfinished)
		q.Done("a")
		require.Equal(t, time.Minute, q.Stats().Unfinished)
		q.Done("b")
		require.Zero(t, q.Stats().Unfinished)
		cancel()
		require.NoError(t, <-ended)
	})
}

package workqueue_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/workqueue"
)

// A leader that has lost its lease must not write any more, because another process may write.
func TestRunEndsAtOnceAndWithItsCauseWhenItsContextEnds(t *testing.T) { // G10
	t.Parallel()
	lost := errors.New("the lease is lost")
	for _, until := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var log bytes.Buffer
			q := workqueue.New(workqueue.Options[string]{Logger: slog.New(slog.NewTextHandler(&log, nil))})
			ctx, lose := context.WithCancelCause(t.Context())
			var begun atomic.Int64
			reconcile := func(ctx context.Context, key string) error {
				begun.Add(1)
				<-ctx.Done()
				if key == "a" {
					return fmt.Errorf("update: %w", ctx.Err())
				}
				return context.Cause(ctx)
			}
			ended := make(chan error, 1)
			go func() {
				if until {
					ended <- q.RunUntil(ctx, t.Context(), 2, reconcile)
				} else {
					ended <- q.Run(ctx, 2, reconcile)
				}
			}()
			for _, key := range []string{"a", "b", "c"} {
				q.Add(key)
			}
			q.AddAfter("delayed", time.Hour)
			q.Park("parked", func(ctx context.Context) error {
				<-ctx.Done()
				return nil
			})
			synctest.Wait()
			start := time.Now()
			lose(lost)
			require.NoError(t, <-ended)
			require.Zero(t, time.Since(start))
			require.EqualValues(t, 2, begun.Load(), "c is not begun")
			require.Equal(t, 1, q.Len())
			s := q.Stats()
			require.True(t, s.ShuttingDown)
			require.Zero(t, s.Delayed+s.Parked)
			require.Zero(t, s.Failures, "an interrupted run is not a failure")
			require.Empty(t, log.String())
		})
	}
}

// lateContext is a context whose end is not visible yet. It simulates a Get that an add has woken
// and that has not run since.
type lateContext struct {
	context.Context
	ended atomic.Bool
}

func (l *lateContext) Err() error {
	if l.ended.Load() {
		return context.Canceled
	}
	return nil
}

// If an add wakes a worker just when the context ends, the worker must not take the key. It leaves
// the key to another waiting worker.
func TestNoKeyIsBegunAfterTheContextHasEnded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue()
		ctx := &lateContext{Context: t.Context()}
		ended := make(chan error, 1)
		go func() {
			_, err := q.Get(ctx)
			ended <- err
		}()
		synctest.Wait()
		got := make(chan string, 1)
		go func() {
			key, _ := q.Get(t.Context())
			got <- key
		}()
		synctest.Wait()
		ctx.ended.Store(true)
		q.Add("a") // wakes the first worker, which has waited longer
		require.Error(t, <-ended)
		require.Equal(t, "a", <-got)
		q.Done("a")
	})
}

func TestRunUntilDrainsQueuedKeysWhenStopped(t *testing.T) { // D1, G10
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue()
		j := newJournal()
		end := draining(t, q, 1, func(ctx context.Context, key string) error {
			time.Sleep(time.Second)
			j.note(fmt.Sprintf("%s %v", key, ctx.Err()))
			if key == "fails" {
				return errors.New("for ever")
			}
			return nil
		})
		q.AddAfter("delayed", time.Hour)
		for _, key := range []string{"a", "fails", "b"} {
			q.Add(key)
		}
		synctest.Wait()
		require.NoError(t, end())
		require.Equal(t, []string{"a <nil> @1s", "fails <nil> @2s", "b <nil> @3s"}, j.all(),
			"the context lives on, nothing is retried, nothing delayed is waited for")
		require.NoError(t, q.Verify())
		s := q.Stats()
		require.EqualValues(t, 1, s.Discarded)
		require.EqualValues(t, 1, s.Refused)
	})
}

// The lease may still be lost during the drain.
func TestTheContextOfRunUntilEndsADrain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue()
		ctx, lose := context.WithCancelCause(t.Context())
		stop, cancel := context.WithCancel(t.Context())
		var seen error
		ended := make(chan error, 1)
		go func() {
			ended <- q.RunUntil(ctx, stop, 1, func(ctx context.Context, _ string) error {
				<-ctx.Done()
				seen = context.Cause(ctx)
				return nil
			})
		}()
		q.Add("a")
		q.Add("b")
		synctest.Wait()
		cancel()
		time.Sleep(5 * time.Second)
		lost := errors.New("the lease is lost")
		start := time.Now()
		lose(lost)
		err := <-ended
		require.Zero(t, time.Since(start))
		require.Equal(t, lost, seen)
		require.ErrorIs(t, err, lost)
		var left *workqueue.DrainError
		require.ErrorAs(t, err, &left)
		require.NotZero(t, left.Left)
		require.Equal(t, 1, q.Len(), "b was not begun")
	})
}

func TestRunWhoseContextHasEndedDoesNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue()
		q.Add("a")
		q.AddAfter("delayed", time.Hour)
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		runs := newJournal()
		work := func(ctx context.Context, key string) error {
			runs.note(key)
			return ctx.Err()
		}
		require.NoError(t, q.Run(ended, 3, work))
		require.Empty(t, runs.all())
		require.NoError(t, q.RunUntil(t.Context(), ended, 3, work), "RunUntil processes the queued keys")
		require.Equal(t, []string{"a @0s"}, runs.all())
		require.NoError(t, q.Run(ended, 3, work), "a further Run returns at once")
		require.Error(t, q.SetWorkers(3))
	})
}

func TestDrainTimeoutEndsRunUntil(t *testing.T) {
	t.Parallel()
	for timeout, want := range map[time.Duration]time.Duration{
		0:                 30 * time.Second,
		2*time.Second + 1: 2*time.Second + 1,
	} {
		synctest.Test(t, func(t *testing.T) {
			q := workqueue.New(workqueue.Options[string]{Name: "test", DrainTimeout: timeout})
			var begun atomic.Int64
			end := draining(t, q, 2, func(ctx context.Context, _ string) error {
				begun.Add(1)
				<-ctx.Done()
				return context.Cause(ctx)
			})
			for _, key := range []string{"a", "b", "c"} {
				q.Add(key)
			}
			synctest.Wait()
			start := time.Now()
			err := end()
			require.Equal(t, want, time.Since(start))
			var left *workqueue.DrainError
			require.ErrorAs(t, err, &left)
			require.Equal(t, 3, left.Left)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.EqualValues(t, 2, begun.Load(), "c was not begun")
			require.Equal(t, 1, q.Len())
		})
	}
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.New(workqueue.Options[string]{DrainTimeout: -1})
		end := draining(t, q, 1, func(context.Context, string) error {
			time.Sleep(24 * time.Hour)
			return nil
		})
		q.Add("a")
		synctest.Wait()
		require.NoError(t, end(), "a negative DrainTimeout means no limit")
	})
}

func TestRunWaitsForAReconcileThatIgnoresItsContext(t *testing.T) { // G10
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue()
		work := func(context.Context, string) error {
			time.Sleep(time.Hour)
			return nil
		}
		end := running(t, q, 1, work)
		q.Add("a")
		synctest.Wait()
		start := time.Now()
		require.NoError(t, end())
		require.Equal(t, time.Hour, time.Since(start))
		require.Zero(t, q.Stats().Processing)

		q = newQueue()
		end = draining(t, q, 1, work)
		q.Add("a")
		q.Park("b", func(context.Context) error {
			time.Sleep(2 * time.Hour)
			return nil
		})
		synctest.Wait()
		start = time.Now()
		var left *workqueue.DrainError
		require.ErrorAs(t, end(), &left, "the key was not done within DrainTimeout")
		require.Equal(t, 2*time.Hour, time.Since(start), "RunUntil also waits for the functions passed to Park")
	})
}

func TestRunEndsWhenAnotherCallerDrainsTheQueue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue()
		ended := make(chan error, 1)
		go func() {
			ended <- q.Run(t.Context(), 4, func(context.Context, string) error {
				time.Sleep(time.Second)
				return nil
			})
		}()
		for i := range 8 {
			q.Add(fmt.Sprint(i))
		}
		start := time.Now()
		require.NoError(t, q.Drain(t.Context()))
		require.Equal(t, 2*time.Second, time.Since(start), "with four workers, the keys take two seconds")
		require.NoError(t, <-ended)
		require.NoError(t, q.Run(t.Context(), 1, func(context.Context, string) error { return nil }))
	})
}

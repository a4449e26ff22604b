package workqueue_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/workqueue"
)

func TestRunRetriesFailuresRateLimitedAndForgetsSuccesses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue()
		j := newJournal()
		fails := 3
		end := running(t, q, 2, func(_ context.Context, key string) error {
			j.note(key)
			if fails--; fails >= 0 {
				return errors.New("not yet")
			}
			return nil
		})
		q.Add("a")
		time.Sleep(time.Second)
		require.Equal(t, []string{"a @0s", "a @5ms", "a @15ms", "a @35ms"}, j.all())
		require.Zero(t, q.NumRequeues("a"))
		require.NoError(t, end())
		require.EqualValues(t, 3, q.Stats().Failures)
		require.EqualValues(t, 3, q.Stats().Retries)
	})
}

func TestRequeueAfterIsASuccessThatComesAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue()
		j := newJournal()
		results := []error{
			errors.New("failed"),
			fmt.Errorf("waiting for the volume: %w", workqueue.RequeueAfter(time.Minute)),
			workqueue.RequeueAfter(0),
			nil,
		}
		end := running(t, q, 1, func(_ context.Context, key string) error {
			j.note(fmt.Sprintf("requeues=%d", q.NumRequeues(key)))
			result := results[0]
			results = results[1:]
			return result
		})
		q.Add("a")
		time.Sleep(time.Hour)
		require.Equal(t, []string{"requeues=0 @0s", "requeues=1 @5ms", "requeues=0 @1m0.005s", "requeues=0 @1m0.005s"}, j.all())
		require.NoError(t, end())
		require.EqualValues(t, 1, q.Stats().Failures)
	})
	require.EqualError(t, workqueue.RequeueAfter(time.Minute), "requeue after 1m0s")
}

func TestAPanicIsAnErrorOfItsKeyAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var logged bytes.Buffer
		var reported []error
		q := workqueue.New(workqueue.Options[string]{
			Name:     "pods",
			Logger:   slog.New(slog.NewTextHandler(&logged, nil)),
			Observer: &workqueue.Observer[string]{OnError: func(_ string, err error) { reported = append(reported, err) }},
		})
		var worked []string
		cause := errors.New("bad spec")
		end := running(t, q, 1, func(_ context.Context, key string) error {
			worked = append(worked, key)
			if len(worked) == 1 {
				panic(cause)
			}
			return nil
		})
		q.Add("bad")
		q.Add("good")
		time.Sleep(time.Second)
		require.NoError(t, end())
		require.Equal(t, []string{"bad", "good", "bad"}, worked)

		require.Len(t, reported, 1)
		var panicked *workqueue.PanicError
		require.ErrorAs(t, reported[0], &panicked)
		require.ErrorIs(t, reported[0], cause)
		require.EqualError(t, reported[0], "panicked: bad spec")
		require.Contains(t, string(panicked.Stack), "run_test.go")

		require.Equal(t, 1, strings.Count(logged.String(), "\n"), "one line:\n%s", &logged)
		for _, part := range []string{"level=ERROR", "queue=pods", "key=bad", "bad spec", "requeues=0", "run_test.go"} {
			require.Contains(t, logged.String(), part)
		}
		s := q.Stats()
		require.EqualValues(t, 1, s.Panics)
		require.EqualValues(t, 1, s.Failures)
	})
	var err error = &workqueue.PanicError{Value: "no error"}
	require.NoError(t, errors.Unwrap(err))
}

func TestReconcileSeesTheValuesOfTheContext(t *testing.T) {
	t.Parallel()
	type name struct{}
	q := newQueue()
	q.Add("a")
	ctx, cancel := context.WithCancel(context.WithValue(t.Context(), name{}, "traced"))
	var value any
	require.NoError(t, q.Run(ctx, 1, func(ctx context.Context, _ string) error {
		value = ctx.Value(name{})
		cancel()
		return nil
	}))
	require.Equal(t, "traced", value)
}

func TestRunNeedsAWorkerAndAReconcileFunction(t *testing.T) {
	t.Parallel()
	q := newQueue()
	require.ErrorContains(t, q.Run(t.Context(), 0, func(context.Context, string) error { return nil }), `"test"`)
	require.Error(t, q.Run(t.Context(), 1, nil))
	require.False(t, q.Stats().ShuttingDown)
}

func TestG9_RunNeverWorksOnAKeyTwiceAtOnce(t *testing.T) {
	t.Parallel()
	q := workqueue.New(workqueue.Options[string]{RateLimiter: workqueue.Exponential[string](time.Microsecond, time.Millisecond)})
	all := []string{"a", "b", "c"}
	var mu sync.Mutex
	working := map[string]bool{}
	overlaps, attempts := 0, map[string]int{}
	end := draining(t, q, 8, func(_ context.Context, key string) error {
		mu.Lock()
		overlaps += map[bool]int{true: 1}[working[key]]
		working[key] = true
		attempts[key]++
		n := attempts[key]
		mu.Unlock()
		defer func() {
			mu.Lock()
			defer mu.Unlock()
			working[key] = false
		}()
		switch n % 4 {
		case 0:
			panic("now and then")
		case 1:
			return errors.New("often")
		case 2:
			return workqueue.RequeueAfter(time.Microsecond)
		}
		return nil
	})
	for i := range 3000 {
		q.Add(all[i%len(all)])
	}
	require.NoError(t, end())
	require.Zero(t, overlaps)
	require.Len(t, slices.Collect(maps.Keys(attempts)), len(all))
	require.NoError(t, q.Verify())
}

func TestRunDoesNotRetryDroppedErrors(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue()
		invalid := errors.New("spec.replicas is negative")
		runs := newJournal()
		end := running(t, q, 1, func(_ context.Context, key string) error {
			runs.note(key)
			if len(runs.all()) == 1 {
				return errors.New("conflict")
			}
			return fmt.Errorf("sync: %w", workqueue.Drop(invalid))
		})
		q.Add("a")
		time.Sleep(time.Hour)
		require.Equal(t, []string{"a @0s", "a @5ms"}, runs.all(), "the key is retried after the conflict, and not after the drop")
		require.Zero(t, q.NumRequeues("a"), "its failures are forgotten")
		require.EqualValues(t, 2, q.Stats().Failures)
		q.Add("a")
		synctest.Wait()
		require.Len(t, runs.all(), 3, "a dropped key runs again after an Add")
		require.NoError(t, end())
	})
	require.NoError(t, workqueue.Drop(nil))
	err := workqueue.Drop(context.Canceled)
	require.ErrorIs(t, err, context.Canceled)
	require.EqualError(t, err, "dropped: context canceled")
}

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
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/workqueue"
)

// running starts Run. It returns a function that ends its context and returns the result of Run.
func running(t *testing.T, q *workqueue.Queue[string], workers int, reconcile func(context.Context, string) error) (end func() error) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- q.Run(ctx, workers, reconcile) }()
	return func() error {
		cancel()
		return <-ended
	}
}

// draining does the same as the function running, but starts RunUntil. The function that it returns
// ends the context stop.
func draining(t *testing.T, q *workqueue.Queue[string], workers int, reconcile func(context.Context, string) error) (end func() error) {
	stop, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- q.RunUntil(context.WithoutCancel(stop), stop, workers, reconcile) }()
	return func() error {
		cancel()
		return <-ended
	}
}

// journal records events with the time since it was made.
type journal struct {
	start time.Time

	mu    sync.Mutex // guards following
	lines []string
}

func newJournal() *journal { return &journal{start: time.Now()} }

func (j *journal) note(what string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, fmt.Sprintf("%s @%v", what, time.Since(j.start)))
}

func (j *journal) all() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.lines)
}

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

// logbook collects lines, each with the minutes since it was made.
type logbook struct {
	began time.Time

	mu    sync.Mutex // guards following
	lines []string
}

func newLogbook() (*logbook, *slog.Logger) {
	l := &logbook{began: time.Now()}
	return l, slog.New(slog.NewTextHandler(l, nil))
}

func (l *logbook) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, text, _ := strings.Cut(strings.TrimSpace(string(line)), " ") // without the time
	l.lines = append(l.lines, fmt.Sprintf("%v %s", time.Since(l.began).Truncate(time.Minute), text))
	return len(line), nil
}

func (l *logbook) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.lines)
}

func TestFailuresOfAKeyAreLoggedOnceAndCountedEveryFiveMinutes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log, logger := newLogbook()
		q := workqueue.New(workqueue.Options[string]{
			Name: "pods", Logger: logger, RateLimiter: workqueue.Exponential[string](10*time.Second, 10*time.Second),
		})
		end := running(t, q, 2, func(context.Context, string) error { return errors.New("no right") })
		q.Add("a")
		time.Sleep(11*time.Minute + time.Second)
		q.Add("b")
		time.Sleep(time.Minute)
		require.NoError(t, end())
		lines := log.all()
		require.Len(t, lines, 4, lines)
		require.Equal(t, `0s level=WARN msg="reconcile failed" queue=pods key=a err="no right" requeues=0`, lines[0])
		require.Regexp(t, `^5m0s level=WARN msg="reconciles keep failing" queue=pods failures=29 since=.* key=a err="no right"$`, lines[1])
		require.Regexp(t, `^10m0s level=WARN msg="reconciles keep failing" queue=pods failures=30 since=`, lines[2])
		require.Equal(t, `11m0s level=WARN msg="reconcile failed" queue=pods key=b err="no right" requeues=0`, lines[3])
	})
}

func TestNoMoreThanTenKeysThatFailAreLoggedAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log, logger := newLogbook()
		q := workqueue.New(workqueue.Options[string]{Logger: logger})
		end := running(t, q, 2, func(context.Context, string) error { return workqueue.Drop(errors.New("no")) })
		for i := range 1000 {
			q.Add(fmt.Sprint(i))
		}
		time.Sleep(5 * time.Minute)
		q.Add("later")
		synctest.Wait()
		require.NoError(t, end())
		lines := log.all()
		require.Len(t, lines, 12)
		require.Contains(t, lines[9], "0s level=WARN msg=\"reconcile failed and is not retried\"")
		require.Contains(t, lines[10], "5m0s level=WARN msg=\"reconciles keep failing\" queue=\"\" failures=990")
		require.Contains(t, lines[11], "5m0s level=WARN msg=\"reconcile failed and is not retried\" queue=\"\" key=later")
	})
}

func TestLogsGoToTheDefaultLogger(t *testing.T) {
	previous := slog.Default()
	defer slog.SetDefault(previous)
	log, logger := newLogbook()
	slog.SetDefault(logger)
	q := newQueue()
	slog.SetDefault(previous) // The logger at the time of New stays.
	q.Add("a")
	require.NoError(t, q.Run(t.Context(), 1, func(context.Context, string) error {
		q.ShutDown()
		panic("at the disco")
	}))
	lines := log.all()
	require.Len(t, lines, 1)
	for _, part := range []string{"level=ERROR", "queue=test", "key=a", "at the disco", "run_test.go"} {
		require.Contains(t, lines[0], part)
	}
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

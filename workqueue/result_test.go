package workqueue_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/workqueue"
)

// severalErrors is a custom type with several errors, not made by fmt or errors.
type severalErrors []error

func (severalErrors) Error() string { return "several" }

func (s severalErrors) Unwrap() []error { return s }

// A result may combine several errors. Beside a requeue request, no failure is lost. Beside an
// error that is dropped, no requeue request is lost.
func TestAResultOfSeveralErrors(t *testing.T) {
	t.Parallel()
	const retried = 10 * time.Millisecond // the second failure in a row
	const never = time.Duration(-1)
	failed := errors.New("conflict")
	after := workqueue.RequeueAfter
	when := func(d time.Duration) error {
		return workqueue.RequeueWhen(func(context.Context) error { time.Sleep(d); return nil })
	}
	for name, c := range map[string]struct {
		result   error
		again    time.Duration // when the key runs again
		failures uint64        // besides the first one
		requeues int           // number of requeues that the next run sees
	}{
		"a requeue request":                                {after(time.Minute), time.Minute, 0, 0},
		"a requeue request, wrapped":                       {fmt.Errorf("volume: %w", fmt.Errorf("disk: %w", after(time.Minute))), time.Minute, 0, 0},
		"a requeue request, joined alone":                  {errors.Join(nil, after(time.Minute)), time.Minute, 0, 0},
		"an error and a requeue request":                   {errors.Join(failed, after(time.Minute)), retried, 1, 2},
		"a requeue request and an error":                   {errors.Join(after(time.Minute), failed), retried, 1, 2},
		"a requeue request of no time and an error":        {errors.Join(after(0), failed), retried, 1, 2},
		"an error and a requeue request, deep":             {fmt.Errorf("a: %w", errors.Join(after(time.Minute), fmt.Errorf("b: %w", failed))), retried, 1, 2},
		"an error and a requeue request, in one text":      {fmt.Errorf("%w: %w", failed, after(time.Minute)), retried, 1, 2},
		"an error and a requeue request, in another type":  {severalErrors{nil, after(time.Minute), failed}, retried, 1, 2},
		"a type of several errors that has none":           {severalErrors{nil}, retried, 1, 2},
		"an error and a requeue request that waits":        {errors.Join(when(time.Minute), failed), retried, 1, 2},
		"two requeue requests":                             {errors.Join(after(time.Hour), after(time.Minute)), time.Minute, 0, 0},
		"two requeue requests, the other way round":        {errors.Join(after(time.Minute), after(time.Hour)), time.Minute, 0, 0},
		"two requeue requests that wait":                   {errors.Join(when(time.Minute), when(time.Hour)), time.Hour, 0, 0},
		"a requeue request, and one that waits":            {errors.Join(after(time.Second), when(time.Minute)), time.Minute, 0, 0},
		"a dropped error":                                  {workqueue.Drop(failed), never, 1, 0},
		"two dropped errors":                               {errors.Join(workqueue.Drop(failed), workqueue.Drop(failed)), never, 1, 0},
		"a dropped error and an error":                     {errors.Join(workqueue.Drop(failed), failed), retried, 1, 2},
		"an error and a dropped error":                     {errors.Join(failed, workqueue.Drop(failed)), retried, 1, 2},
		"a dropped error and a requeue request":            {errors.Join(workqueue.Drop(failed), after(time.Minute)), time.Minute, 1, 0},
		"a dropped error and a requeue request that waits": {errors.Join(workqueue.Drop(failed), when(time.Minute)), time.Minute, 1, 0},
		"a dropped error, a requeue request and an error":  {errors.Join(workqueue.Drop(failed), after(time.Minute), failed), retried, 1, 2},
		"a requeue request that is dropped":                {workqueue.Drop(after(time.Minute)), time.Minute, 0, 0},
		"an error and a requeue request that are dropped":  {workqueue.Drop(errors.Join(failed, after(time.Minute))), time.Minute, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			again := c.requeues > 0
			failed, retries := workqueue.Classify(c.result)
			require.Equal(t, c.failures > 0, failed, "Classify and Run agree")
			require.Equal(t, again, retries)
			synctest.Test(t, func(t *testing.T) {
				var reported []error
				q := workqueue.New(workqueue.Options[string]{
					Logger:   slog.New(slog.DiscardHandler),
					Observer: &workqueue.Observer[string]{OnError: func(_ string, err error) { reported = append(reported, err) }},
				})
				var runs []time.Time
				var requeues []int
				results := []error{errors.New("first"), c.result}
				end := running(t, q, 1, func(_ context.Context, key string) error {
					runs = append(runs, time.Now())
					requeues = append(requeues, q.NumRequeues(key))
					if len(runs) > len(results) {
						return nil
					}
					return results[len(runs)-1]
				})
				q.Add("a")
				time.Sleep(24 * time.Hour)
				synctest.Wait()
				require.NoError(t, end())
				require.EqualValues(t, c.failures+1, q.Stats().Failures)
				require.Len(t, reported, int(c.failures)+1)
				if c.failures > 0 {
					require.Equal(t, c.result, reported[1], "OnError receives the whole result")
				}
				if c.again == never {
					require.Len(t, runs, 2)
					require.Zero(t, q.NumRequeues("a"))
					return
				}
				require.Len(t, runs, 3)
				require.Equal(t, c.again, runs[2].Sub(runs[1]))
				require.Equal(t, c.requeues, requeues[2])
			})
		})
	}
}

// A panic is a failure, even if its value is a requeue request.
func TestAPanicWithARequeueRequestIsAFailure(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var logged bytes.Buffer
		q := workqueue.New(workqueue.Options[string]{Logger: slog.New(slog.NewTextHandler(&logged, nil))})
		runs := 0
		end := running(t, q, 1, func(context.Context, string) error {
			if runs++; runs == 1 {
				panic(workqueue.RequeueAfter(time.Hour))
			}
			return nil
		})
		q.Add("a")
		time.Sleep(time.Minute)
		require.NoError(t, end())
		require.Equal(t, 2, runs, "retried with back-off")
		require.EqualValues(t, 1, q.Stats().Panics)
		require.Contains(t, logged.String(), "level=ERROR")
	})
}

// Observers may call Classify with any result: nil, panics, and wrappers without an error.
func TestClassify(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		result        error
		failed, again bool
	}{
		"nil":      {nil, false, false},
		"an error": {errors.New("x"), true, true},
		"a panic":  {&workqueue.PanicError{Value: workqueue.RequeueAfter(time.Hour)}, true, true},
		// Classify does not know which context has ended.
		"the end of a context":        {context.Canceled, true, true},
		"nothing, dropped":            {workqueue.Drop(nil), false, false},
		"nothing, joined":             {errors.Join(nil, nil), false, false},
		"a requeue request of a type": {fmt.Errorf("%w", workqueue.RequeueWhen(nil)), false, false},
		"dropped, and dropped":        {workqueue.Drop(workqueue.Drop(errors.New("x"))), true, false},
		"dropped, deep in a chain":    {fmt.Errorf("a: %w", fmt.Errorf("b: %w", workqueue.Drop(errors.New("x")))), true, false},
	} {
		failed, retries := workqueue.Classify(c.result)
		require.Equal(t, c.failed, failed, name)
		require.Equal(t, c.again, retries, name)
	}
	result := errors.Join(workqueue.Drop(errors.New("x")), workqueue.RequeueAfter(time.Hour))
	var all sync.WaitGroup
	for range 8 { // Classify does not modify the result: the race detector checks this.
		all.Go(func() { workqueue.Classify(result) })
	}
	all.Wait()
}

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

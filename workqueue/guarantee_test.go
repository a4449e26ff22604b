package workqueue_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/workqueue"
)

// G9: a key is never with two workers at once; adds during a run give exactly one more run (WQ-4).
func TestG9_AKeyIsNeverWithTwoWorkersAndNoAddIsLost(t *testing.T) {
	t.Parallel()
	const hotKeys, producers, workers, addsEach = 3, 4, 8, 3000

	q := workqueue.New(workqueue.Options[int]{})
	var working, announced, seen, runs [hotKeys]atomic.Int64
	var overlaps atomic.Int64

	var consuming sync.WaitGroup
	for range workers {
		consuming.Go(func() {
			serve(q, func(key int) {
				if working[key].Add(1) > 1 {
					overlaps.Add(1)
				}
				seen[key].Store(announced[key].Load())
				runs[key].Add(1)
				working[key].Add(-1)
			})
		})
	}
	var producing sync.WaitGroup
	for p := range producers {
		producing.Go(func() {
			for i := range addsEach {
				key := (i + p) % hotKeys
				announced[key].Add(1)
				if i%5 == 0 {
					q.AddAfter(key, time.Microsecond)
				}
				q.Add(key)
			}
		})
	}
	producing.Wait()
	require.NoError(t, q.Drain(t.Context()))
	consuming.Wait()

	require.Zero(t, overlaps.Load())
	var total int64
	for key := range hotKeys {
		require.Equal(t, announced[key].Load(), seen[key].Load(), "the last run of key %d saw its last change", key)
		total += runs[key].Load()
	}
	s := q.Stats()
	require.EqualValues(t, s.Adds, total, "as many runs as accepted adds")
	require.NoError(t, q.Verify())
}

func TestG9_AddsWhileAKeyIsWorkedOnGiveExactlyOneMoreRun(t *testing.T) { // WQ-4
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue()
		var runs atomic.Int64
		for range 4 {
			go serve(q, func(string) {
				runs.Add(1)
				time.Sleep(time.Second)
			})
		}
		q.Add("hot")
		synctest.Wait()
		for range 100 {
			q.Add("hot")
		}
		synctest.Wait()
		require.EqualValues(t, 1, runs.Load(), "the three idle workers must not get the key")
		require.NoError(t, q.Drain(t.Context()))
		require.EqualValues(t, 2, runs.Load())
	})
}

// D1: a drain waits for queued keys as well, not only for processing keys.
func TestD1_DrainWaitsForQueuedKeys(t *testing.T) { // WQ-12, WQ-13, WQ-14, WQ-17
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue()
		q.Add("dirty while processed")
		q.Add("queued")
		get(t, q)
		q.Add("dirty while processed")

		drained := make(chan error, 1)
		go func() { drained <- q.Drain(t.Context()) }()
		for _, step := range []func(){
			func() { q.Done("dirty while processed") },
			func() { require.Equal(t, "queued", get(t, q)) },
			func() { q.Done("queued") },
			func() { require.Equal(t, "dirty while processed", get(t, q)) },
		} {
			synctest.Wait()
			require.Empty(t, drained)
			step()
		}
		synctest.Wait()
		require.Empty(t, drained)
		q.Done("dirty while processed")
		require.NoError(t, <-drained)
	})
}

// D2: Done for a key that is not processing has no effect.
func TestD2_AStrayDoneDoesNotDuplicateAKey(t *testing.T) { // WQ-9
	t.Parallel()
	q := newQueue()
	q.Done("never seen")
	q.Add("a")
	q.Done("a")
	require.Equal(t, 1, q.Len())
	require.Equal(t, []string{"a"}, takeAll(t, q))
	q.Done("a")
	q.AddAfter("delayed", time.Hour)
	q.Done("delayed")
	s := q.Stats()
	require.EqualValues(t, 4, s.StrayDones)
	require.EqualValues(t, 1, s.Dones)
	require.Equal(t, 1, s.Delayed)
	require.NoError(t, q.Verify())
	q.ShutDown()
}

// D3: every caller that waits for a drain is released.
func TestD3_AllDrainersAreReleased(t *testing.T) { // WQ-15
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue()
		q.Add("a")
		get(t, q)
		drained := make(chan error, 10)
		for range cap(drained) {
			go func() { drained <- q.Drain(context.Background()) }()
		}
		synctest.Wait()
		require.Empty(t, drained)
		q.ShutDown()
		synctest.Wait()
		require.Empty(t, drained, "ShutDown does not end a drain early, unlike WQ-12")
		q.Done("a")
		for range cap(drained) {
			require.NoError(t, <-drained)
		}
		require.NoError(t, q.Drain(t.Context()), "a further Drain returns at once")
	})
}

// D4: when Drain returns, no timer and no goroutine of delayed keys is left. A leftover would keep
// the bubble from ending, or would advance its time.
func TestD4_DrainLeavesNoTimer(t *testing.T) { // WQ-26, G10
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var added atomic.Int64
		q := workqueue.New(workqueue.Options[string]{
			Observer: &workqueue.Observer[string]{OnAdd: func(string) { added.Add(1) }},
		})
		q.AddAfter("later", time.Hour)
		q.AddAfter("sooner", time.Minute)
		start := time.Now()
		require.NoError(t, q.Drain(t.Context()))
		require.Zero(t, time.Since(start))
		s := q.Stats()
		require.EqualValues(t, 2, s.Discarded)
		require.Zero(t, s.Delayed)
		time.Sleep(2 * time.Hour)
		require.Zero(t, added.Load())
	})
}

func TestD4_DrainWaitsForATimerCallback(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hold := make(chan struct{})
		q := workqueue.New(workqueue.Options[string]{
			Observer: &workqueue.Observer[string]{OnAdd: func(string) { <-hold }},
		})
		q.AddAfter("a", time.Second)
		time.Sleep(time.Second)
		synctest.Wait()
		require.Equal(t, []string{"a"}, takeAll(t, q))

		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var left *workqueue.DrainError
		require.ErrorAs(t, q.Drain(ctx), &left, "the hook is still running")
		require.Zero(t, left.Left)
		close(hold)
		require.NoError(t, q.Drain(t.Context()))
	})
}

// A bubble fails if a goroutine is left when its test function returns. Nothing here ends a queue.
func TestAQueueStartsNoGoroutine(t *testing.T) {
	synctest.Test(t, func(*testing.T) {
		q := workqueue.New(workqueue.Options[string]{})
		q.Add("ready")
		q.AddAfter("delayed", time.Minute)
		synctest.Wait()
	})
}

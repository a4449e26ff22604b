package workqueue_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/time/rate"
	"k8s.io/client-go/util/workqueue"
)

func waits(l workqueue.RateLimiter, item any, n int) (all []time.Duration) {
	for range n {
		all = append(all, l.When(item))
	}
	return all
}

func TestLimiters(t *testing.T) { // WQ-31, WQ-32, WQ-33
	const s = time.Second
	exponential := workqueue.NewItemExponentialFailureRateLimiter(s, 10*s)
	require.Equal(t, []time.Duration{s, 2 * s, 4 * s, 8 * s, 10 * s}, waits(exponential, "a", 5))
	require.Equal(t, 10*s, waits(exponential, "a", 1000)[999])
	require.Equal(t, 1005, exponential.NumRequeues("a"))
	require.Equal(t, s, exponential.When("b"))
	exponential.Forget("a")
	require.Equal(t, s, exponential.When("a"))

	fast := workqueue.NewItemFastSlowRateLimiter(s, 9*s, 2)
	require.Equal(t, []time.Duration{s, s, 9 * s}, waits(fast, "a", 3))

	longest := workqueue.NewMaxOfRateLimiter(fast, exponential)
	require.Equal(t, 9*s, longest.When("a"))
	require.Equal(t, 4, longest.NumRequeues("a"))
	longest.Forget("a")
	require.Zero(t, fast.NumRequeues("a")+exponential.NumRequeues("a"))
	require.Zero(t, workqueue.NewMaxOfRateLimiter().When("a"))

	capped := workqueue.NewWithMaxWaitRateLimiter(exponential, 3*s)
	require.Equal(t, []time.Duration{s, 2 * s, 3 * s}, waits(capped, "a", 3))
	require.Equal(t, 3, capped.NumRequeues("a"))
}

func TestBucket(t *testing.T) { // WQ-33, WQ-34
	synctest.Test(t, func(t *testing.T) {
		bucket := &workqueue.BucketRateLimiter{Limiter: rate.NewLimiter(10, 2)}
		require.Equal(t, []time.Duration{0, 0, 100 * time.Millisecond, 200 * time.Millisecond}, waits(bucket, "a", 4))
		bucket.Forget("a")
		require.Zero(t, bucket.NumRequeues("a"))

		usual := workqueue.DefaultControllerRateLimiter()
		for i := range 100 {
			require.Equal(t, 5*time.Millisecond, usual.When(i))
		}
		require.Equal(t, 100*time.Millisecond, usual.When("a"))
		require.Equal(t, time.Millisecond, workqueue.DefaultItemBasedRateLimiter().When("a"))
	})
}

func TestParallelizeUntil(t *testing.T) { // WQ-35
	for _, c := range []struct{ workers, pieces, chunk int }{
		{1, 1, 0}, {3, 10, 0}, {3, 10, 3}, {3, 10, 100}, {20, 10, 1}, {2, 0, 1}, {2, 7, -1},
	} {
		seen := make([]atomic.Int32, c.pieces)
		var opts []workqueue.Options
		if c.chunk != 0 {
			opts = append(opts, workqueue.WithChunkSize(c.chunk))
		}
		//lint:ignore SA1012 programs do
		workqueue.ParallelizeUntil(nil, c.workers, c.pieces, func(piece int) { seen[piece].Add(1) }, opts...)
		for i := range seen {
			require.Equal(t, int32(1), seen[i].Load(), "%+v: piece %d", c, i)
		}
	}
}

func TestParallelizeUntilEndsWithItsContext(t *testing.T) { // WQ-35
	ctx, cancel := context.WithCancel(t.Context())
	var seen atomic.Int32
	workqueue.ParallelizeUntil(ctx, 2, 1000, func(int) {
		if n := seen.Add(1); n == 10 {
			cancel()
		} else if n > 10 {
			// block, so that the other worker does not process all other pieces before cancel was
			// called
			<-ctx.Done()
		}
	}, workqueue.WithChunkSize(2))
	require.LessOrEqual(t, seen.Load(), int32(12), "started chunks are finished, and no other chunk is started")
}

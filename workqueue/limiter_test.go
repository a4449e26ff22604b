package workqueue_test

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/workqueue"
)

// delays returns the limiter's waits for n failures of a key.
func delays(l workqueue.RateLimiter[string], key string, n int) []time.Duration {
	waits := make([]time.Duration, n)
	for i := range waits {
		waits[i] = l.When(key)
	}
	return waits
}

const ms = time.Millisecond

func TestExponentialDoublesUpToItsMaximum(t *testing.T) { // WQ-31
	t.Parallel()
	l := workqueue.Exponential[string](ms, 20*ms)
	require.Equal(t, []time.Duration{1 * ms, 2 * ms, 4 * ms, 8 * ms, 16 * ms, 20 * ms, 20 * ms}, delays(l, "a", 7))
	require.Equal(t, 7, l.NumRequeues("a"))

	require.Equal(t, []time.Duration{1 * ms, 2 * ms}, delays(l, "b", 2), "each key has a count of its own")
	l.Forget("a")
	require.Zero(t, l.NumRequeues("a"))
	require.Equal(t, ms, l.When("a"))
	require.Equal(t, 2, l.NumRequeues("b"))
}

func TestExponentialSaturatesWithoutOverflow(t *testing.T) { // WQ-31
	t.Parallel()
	for _, test := range []struct{ base, longest time.Duration }{
		{ms, 1000 * time.Second},
		{5 * ms, 1000 * time.Second},
		{1, math.MaxInt64},
		{3, math.MaxInt64 - 1},
		{time.Minute, time.Hour},
		{math.MaxInt64, math.MaxInt64},
	} {
		l := workqueue.Exponential[string](test.base, test.longest)
		exact := float64(test.base)
		for i, wait := range delays(l, "a", 2000) {
			require.InEpsilon(t, min(exact, float64(test.longest)), float64(wait), 1e-15, "failure %d of %v", i, test)
			exact *= 2
		}
		require.Equal(t, test.longest, l.When("a"))
		require.Equal(t, 2001, l.NumRequeues("a"))
	}
	require.Equal(t, make([]time.Duration, 100), delays(workqueue.Exponential[string](0, time.Second), "a", 100))
	require.Equal(t, time.Second, workqueue.Exponential[string](time.Minute, time.Second).When("a"))
}

func TestFastSlowIsFastAtFirst(t *testing.T) { // WQ-32
	t.Parallel()
	l := workqueue.FastSlow[string](5*ms, 10*time.Second, 3)
	fast, slow := 5*ms, 10*time.Second
	require.Equal(t, []time.Duration{fast, fast, fast, slow, slow}, delays(l, "a", 5))
	require.Equal(t, 5, l.NumRequeues("a"))
	require.Equal(t, fast, l.When("b"))
	l.Forget("a")
	require.Zero(t, l.NumRequeues("a"))
	require.Equal(t, fast, l.When("a"))
}

func TestMaxOfCallsAllAndReturnsTheLongest(t *testing.T) { // WQ-32
	t.Parallel()
	slowLater := workqueue.FastSlow[string](5*ms, 3*time.Second, 3)
	l := workqueue.MaxOf(slowLater, workqueue.Exponential[string](ms, time.Second))
	require.Equal(t, []time.Duration{5 * ms, 5 * ms, 5 * ms, 3 * time.Second, 3 * time.Second}, delays(l, "a", 5))
	require.Equal(t, 5, l.NumRequeues("a"))
	slowLater.When("a")
	require.Equal(t, 6, l.NumRequeues("a"), "the largest count")
	l.Forget("a")
	require.Zero(t, l.NumRequeues("a"))
	require.Equal(t, 5*ms, l.When("a"), "Forget is passed to all limiters")

	require.Zero(t, workqueue.MaxOf[string]().When("a"))
}

func TestWithMaxWaitLimitsTheDelay(t *testing.T) { // WQ-33
	t.Parallel()
	l := workqueue.WithMaxWait(workqueue.Exponential[string](ms, time.Hour), 5*ms)
	require.Equal(t, []time.Duration{1 * ms, 2 * ms, 4 * ms, 5 * ms, 5 * ms}, delays(l, "a", 5))
	require.Equal(t, 5, l.NumRequeues("a"))
	l.Forget("a")
	require.Equal(t, ms, l.When("a"))
}

func TestBucketReservesTokens(t *testing.T) { // WQ-33
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := workqueue.Bucket[string](10, 3)
		require.Equal(t, []time.Duration{0, 0, 0, 100 * ms, 200 * ms, 300 * ms}, delays(l, "a", 6))
		require.Equal(t, 400*ms, l.When("b"), "keys are not distinguished")
		l.Forget("a")
		require.Zero(t, l.NumRequeues("a"))

		time.Sleep(450 * ms)
		require.Equal(t, 50*ms, l.When("a"))
		time.Sleep(150 * ms)
		require.Zero(t, l.When("a"), "exactly one token")
		require.Equal(t, 100*ms, l.When("a"))
		time.Sleep(time.Hour)
		require.Equal(t, []time.Duration{0, 0, 0, 100 * ms}, delays(l, "a", 4), "at most burst tokens are saved")
	})
}

func TestBucketTakesExtremeRates(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		require.Equal(t, make([]time.Duration, 50), delays(workqueue.Bucket[string](math.Inf(1), 1), "a", 50))
		once := workqueue.Bucket[string](math.SmallestNonzeroFloat64, 1)
		require.Equal(t, []time.Duration{0, math.MaxInt64, math.MaxInt64}, delays(once, "a", 3))
		require.Zero(t, workqueue.Bucket[string](1e-9, math.MaxInt).When("a"))
		require.Equal(t, []time.Duration{0, 2 * time.Second}, delays(workqueue.Bucket[string](0.5, 1), "a", 2))
	})
}

func TestBucketRejectsInvalidRates(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		qps   float64
		burst int
	}{{0, 1}, {-1, 1}, {math.NaN(), 1}, {10, 0}} {
		require.Panics(t, func() { workqueue.Bucket[string](test.qps, test.burst) }, "%v", test)
	}
}

func TestDefaultRateLimiter(t *testing.T) { // WQ-34
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := workqueue.DefaultRateLimiter[string]()
		var wait time.Duration
		for failure := range 18 {
			wait = l.When("failing")
			require.Equal(t, 5*ms<<failure, wait)
		}
		require.Equal(t, 1000*time.Second, l.When("failing"))
		require.Equal(t, 1000*time.Second, l.When("failing"))
		require.Equal(t, 20, l.NumRequeues("failing"))

		for range 80 { // the rest of the burst of 100, for first failures of other keys
			require.Equal(t, 5*ms, l.When("others"))
			l.Forget("others")
		}
		require.Equal(t, 100*ms, l.When("others"), "then 10 a second")
		l.Forget("others")
		require.Equal(t, 200*ms, l.When("others"))
	})
}

func TestDefaultItemRateLimiter(t *testing.T) { // WQ-34
	t.Parallel()
	l := workqueue.DefaultItemRateLimiter[string]()
	for failure := range 20 {
		require.Equal(t, ms<<failure, l.When("failing"))
	}
	require.Equal(t, 1000*time.Second, l.When("failing"))
	require.Equal(t, ms, l.When("another"))
}

// The live page draws the bucket as a tank: the tank drains, and then the bucket owes tokens.
func TestLimitsOfAQueue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := workqueue.WithMaxWait(workqueue.DefaultRateLimiter[string](), time.Minute)
		q := workqueue.New(workqueue.Options[string]{RateLimiter: l})
		want := workqueue.Limits{Base: 5 * ms, Longest: time.Minute, Burst: 100, PerSecond: 10, Tokens: 100}
		require.Equal(t, want, q.Limits())
		require.Equal(t, want, q.Limits(), "Limits takes no token")
		for n := range 130 {
			l.When("a")
			require.InDelta(t, 99-n, q.Limits().Tokens, 1e-9)
		}
		time.Sleep(2500 * ms)
		require.InDelta(t, -5, q.Limits().Tokens, 1e-9)
		require.Equal(t, 600*ms, workqueue.WithMaxWait(l, time.Hour).When("b"), "the sixth token from now")
		time.Sleep(time.Hour)
		require.InDelta(t, 100, q.Limits().Tokens, 1e-9)
		require.Equal(t, workqueue.Limits{}, workqueue.New(workqueue.Options[string]{RateLimiter: workqueue.FastSlow[string](0, 0, 1)}).Limits())
		require.Equal(t, workqueue.Limits{}, workqueue.New(workqueue.Options[string]{RateLimiter: workqueue.WithMaxWait(workqueue.FastSlow[string](0, 0, 1), ms)}).Limits())
	})
}

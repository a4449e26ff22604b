package flowcontrol

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	testingclock "k8s.io/utils/clock/testing"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestBucketHasItsBurstAndThenItsRate(t *testing.T) {
	now := testingclock.NewFakeClock(time.Now())
	limiter := NewTokenBucketRateLimiterWithClock(2, 3, now)
	require.EqualValues(t, 2, limiter.QPS())
	for range 3 {
		require.True(t, limiter.TryAccept())
	}
	require.False(t, limiter.TryAccept())
	now.Step(500 * time.Millisecond)
	require.True(t, limiter.TryAccept())
	require.False(t, limiter.TryAccept())
	begin := now.Now()
	limiter.Accept() // Sleep of the fake clock steps the clock
	require.Equal(t, 500*time.Millisecond, now.Now().Sub(begin))
	limiter.Stop()
}

func TestWaitEndsWithItsContext(t *testing.T) {
	limiter := NewTokenBucketRateLimiter(0.001, 1)
	require.NoError(t, limiter.Wait(t.Context()))
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	require.Error(t, limiter.Wait(ctx))
}

func TestFakes(t *testing.T) {
	require.True(t, NewFakeAlwaysRateLimiter().TryAccept())
	require.NoError(t, NewFakeAlwaysRateLimiter().Wait(t.Context()))
	never := NewFakeNeverRateLimiter()
	require.False(t, never.TryAccept())
	require.Error(t, never.Wait(t.Context()))
	ended := make(chan struct{})
	go func() {
		never.Accept()
		close(ended)
	}()
	never.Stop()
	never.Stop()
	<-ended
}

func TestWaitsDoubleUpToTheMaximumAndReset(t *testing.T) {
	now := testingclock.NewFakeClock(time.Now())
	b := NewFakeBackOff(time.Second, 5*time.Second, now)
	require.Zero(t, b.Get("a"))
	require.False(t, b.IsInBackOffSince("a", now.Now()))
	var waits []time.Duration
	for range 5 {
		b.Next("a", now.Now())
		waits = append(waits, b.Get("a"))
		now.Step(time.Millisecond)
	}
	require.Equal(t, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 5 * time.Second, 5 * time.Second}, waits)
	require.True(t, b.IsInBackOffSinceUpdate("a", now.Now()))
	require.True(t, b.IsInBackOffSince("a", now.Now()))
	require.False(t, b.IsInBackOffSince("a", now.Now().Add(-6*time.Second)))
	now.Step(11 * time.Second)
	require.False(t, b.IsInBackOffSinceUpdate("a", now.Now()))
	b.Next("a", now.Now())
	require.Equal(t, time.Second, b.Get("a"))
	b.Next("b", now.Now())
	b.Reset("b")
	require.Zero(t, b.Get("b"))
	now.Step(time.Minute)
	b.GC()
	require.Zero(t, b.Get("a"))
}

func TestJitterOnlyLengthens(t *testing.T) {
	for range 100 {
		b := NewBackOffWithJitter(time.Second, 10*time.Second, 0.5)
		b.Next("a", time.Now())
		require.GreaterOrEqual(t, b.Get("a"), time.Second)
		require.Less(t, b.Get("a"), 1500*time.Millisecond)
		b.HasExpiredFunc = func(time.Time, time.Time, time.Duration) bool { return true }
		b.Next("a", time.Now())
		require.Less(t, b.Get("a"), 1500*time.Millisecond)
	}
}

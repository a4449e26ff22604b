package rest

import (
	"context"
	"math"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/internal/testing/testsize"
)

func TestRateLimiterAllowsBurstsAndThenARate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limiter, err := NewRateLimiter(2, 3)
		require.NoError(t, err)
		start := time.Now()
		at := func() time.Duration {
			require.NoError(t, limiter.Wait(t.Context()))
			return time.Since(start)
		}
		var got []time.Duration
		for range 6 {
			got = append(got, at())
		}
		ms := time.Millisecond
		require.Equal(t, []time.Duration{0, 0, 0, 500 * ms, 1000 * ms, 1500 * ms}, got)
		time.Sleep(time.Hour)
		start = time.Now()
		got = nil
		for range 5 {
			got = append(got, at())
		}
		require.Equal(t, []time.Duration{0, 0, 0, 500 * ms, 1000 * ms}, got, "after an idle hour, only one burst must be allowed at once")
	})
}

func TestCancelledWaitTakesNoToken(t *testing.T) { // RS-16
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limiter, err := NewRateLimiter(1, 1)
		require.NoError(t, err)
		require.NoError(t, limiter.Wait(t.Context()))
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		start := time.Now()
		require.Equal(t, context.DeadlineExceeded, limiter.Wait(ctx))
		require.Equal(t, 100*time.Millisecond, time.Since(start))
		require.Equal(t, context.DeadlineExceeded, limiter.Wait(ctx), "Wait must fail at once if the context has ended")
		require.NoError(t, limiter.Wait(t.Context()))
		require.Equal(t, time.Second, time.Since(start))
	})
}

// TestRateLimiterIsNeverFasterThanItsRate cancels some callers while they wait. No period may have
// more requests than the rate and one burst allow. A cancelled wait must not lose a token.
func TestRateLimiterIsNeverFasterThanItsRate(t *testing.T) {
	t.Parallel()
	const interval, burst = 100 * time.Millisecond, 3
	for seed := range testsize.Scale[uint64](20, 5) {
		synctest.Test(t, func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 1))
			limiter, err := NewRateLimiter(10, burst)
			require.NoError(t, err)
			start := time.Now()
			var mu sync.Mutex // guards following
			var turns []time.Duration
			var group sync.WaitGroup
			ask := func(patience time.Duration) {
				group.Go(func() {
					ctx, cancel := context.WithTimeout(t.Context(), patience)
					defer cancel()
					if limiter.Wait(ctx) == nil {
						mu.Lock()
						defer mu.Unlock()
						turns = append(turns, time.Since(start))
					}
				})
			}
			for range 300 {
				ask(time.Duration(random.Int64N(int64(5 * interval))))
				time.Sleep(time.Duration(random.Int64N(int64(interval))))
			}
			last := time.Since(start)
			ask(time.Hour) // a caller that waits until the end
			group.Wait()
			for i := range turns {
				for j := i; j < len(turns); j++ {
					require.LessOrEqual(t, j-i+1, burst+int((turns[j]-turns[i])/interval), "%v to %v", turns[i], turns[j])
				}
			}
			require.GreaterOrEqual(t, len(turns), int(last/interval)*9/10, "at least nine tenths of the rate must be used")
		})
	}
}

func TestRateLimiterServesInTheOrderOfArrival(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limiter, err := NewRateLimiter(1, 1)
		require.NoError(t, err)
		require.NoError(t, limiter.Wait(t.Context()))
		start := time.Now()
		turns := make(chan string, 4)
		wait := func(name string, patience time.Duration) {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			go func() {
				defer cancel()
				if limiter.Wait(ctx) == nil {
					turns <- name + " " + time.Since(start).String()
				}
			}()
			synctest.Wait()
		}
		wait("first", 500*time.Millisecond)
		wait("second", time.Hour)
		wait("third", 1200*time.Millisecond)
		wait("fourth", time.Hour)
		require.Equal(t, "second 1s", <-turns, "the second caller must get the token that the first one did not take")
		require.Equal(t, "fourth 2s", <-turns)
	})
}

func TestNewRateLimiterRefusesInvalidArguments(t *testing.T) {
	t.Parallel()
	for _, perSecond := range []float64{0, -1, math.NaN(), math.Inf(1), 1e30} {
		_, err := NewRateLimiter(perSecond, 1)
		require.ErrorContains(t, err, "must be positive", perSecond)
	}
	_, err := NewRateLimiter(1, 0)
	require.Error(t, err)
	_, err = NewRateLimiter(1e-30, 1)
	require.Error(t, err)
}

func TestEveryAttemptAndEveryStreamWaitsForTheLimit(t *testing.T) { // RS-13
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limiter, err := NewRateLimiter(0.1, 1)
		require.NoError(t, err)
		server := &failingServer{times: 1, fail: func(w http.ResponseWriter) {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusServiceUnavailable)
		}, response: podList(t, JSON, "1")}
		client, stop := serveMemory(t, server, Options{Limit: limiter.Wait})
		defer stop()
		start := time.Now()
		_, err = client.Raw(t.Context(), http.MethodGet, "/", RawOptions{})
		require.NoError(t, err)
		require.Equal(t, 10*time.Second, time.Since(start), "a retry must wait for Options.Limit")
		_ = listErr(t.Context(), pods(client))
		require.Equal(t, 20*time.Second, time.Since(start), "a list must wait for Options.Limit")

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err = listErr(ctx, pods(client))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.EqualValues(t, 3, client.Stats().Requests, "a request whose wait was cancelled must not be sent")
	})
}

func TestRequestsDoNotWaitForALimiterByDefault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, stop := newLoginClient(t, &login{}, 0)
		defer stop()
		start := time.Now()
		for range 1000 {
			_, err := get(t.Context(), client)
			require.NoError(t, err)
		}
		require.Zero(t, time.Since(start))
	})
}

package once_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"k8s.io/client-go/internal/once"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestAValueIsComputedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var v once.Value[int]
		var asked atomic.Int32
		ask := func(context.Context) (int, error) {
			time.Sleep(time.Second)
			return int(asked.Add(1)), nil
		}
		require.False(t, v.Known())
		for range 10 {
			go func() {
				got, err := v.Get(t.Context(), ask)
				require.NoError(t, err)
				require.Equal(t, 1, got)
			}()
		}
		synctest.Wait()
		time.Sleep(2 * time.Second)
		require.True(t, v.Known())
		v.Forget()
		require.False(t, v.Known())
		got, err := v.Get(t.Context(), ask)
		require.NoError(t, err)
		require.Equal(t, 2, got)
	})
}

func TestAnErrorIsReturnedToWaitingCallersOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var v once.Value[int]
		var asked atomic.Int32
		failed := errors.New("failed")
		ask := func(context.Context) (int, error) {
			time.Sleep(time.Second)
			asked.Add(1)
			return 0, failed
		}
		for range 3 {
			go func() {
				_, err := v.Get(t.Context(), ask)
				require.ErrorIs(t, err, failed)
			}()
		}
		time.Sleep(2 * time.Second)
		require.EqualValues(t, 1, asked.Load())
		require.False(t, v.Known())
		_, err := v.Get(t.Context(), ask)
		require.ErrorIs(t, err, failed)
		require.EqualValues(t, 2, asked.Load())
	})
}

// If the caller that computes the value is cancelled or panics, only its own call fails.
func TestAnAbandonedComputationIsRepeatedByAWaitingCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, give := range []func(context.Context) (int, error){
			func(ctx context.Context) (int, error) { <-ctx.Done(); return 0, ctx.Err() },
			func(ctx context.Context) (int, error) { <-ctx.Done(); panic("given up") },
		} {
			var v once.Value[int]
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			go func() {
				defer func() { _ = recover() }()
				_, err := v.Get(ctx, give)
				require.Error(t, err)
			}()
			synctest.Wait()
			impatient, stop := context.WithTimeout(t.Context(), time.Millisecond)
			_, err := v.Get(impatient, give)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			stop()
			got, err := v.Get(t.Context(), func(context.Context) (int, error) { return 7, nil })
			require.NoError(t, err)
			require.Equal(t, 7, got)
			cancel()
		}
	})
}

// A value whose computation began before Forget may be outdated, so it is not cached.
func TestForgetDropsAComputationInProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var v once.Value[string]
		go func() {
			got, err := v.Get(t.Context(), func(context.Context) (string, error) { time.Sleep(time.Second); return "old", nil })
			require.NoError(t, err)
			require.Equal(t, "old", got)
		}()
		synctest.Wait()
		v.Forget()
		got, err := v.Get(t.Context(), func(context.Context) (string, error) { return "new", nil })
		require.NoError(t, err)
		require.Equal(t, "new", got)
		time.Sleep(2 * time.Second)
		got, err = v.Get(t.Context(), nil)
		require.NoError(t, err)
		require.Equal(t, "new", got)
	})
}

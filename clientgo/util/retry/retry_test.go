package retry_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/retry"
)

var conflict = apierrors.NewConflict(schema.GroupResource{Resource: "pods"}, "a", errors.New("changed"))

func TestAConflictIsRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin, calls := time.Now(), 0
		err := retry.RetryOnConflict(wait.Backoff{Steps: 4, Duration: time.Second, Factor: 2}, func() error {
			if calls++; calls < 4 {
				return conflict
			}
			return nil
		})
		require.NoError(t, err)
		require.Equal(t, 4, calls)
		require.Equal(t, 7*time.Second, time.Since(begin))
	})
}

func TestTheLastErrorIsReturned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin, calls := time.Now(), 0
		err := retry.RetryOnConflict(wait.Backoff{Steps: 3, Duration: time.Second}, func() error { calls++; return conflict })
		require.Equal(t, error(conflict), err)
		require.Equal(t, 3, calls)
		require.Equal(t, 2*time.Second, time.Since(begin), "no wait follows the last call")
	})
}

func TestAnotherErrorIsNotRetried(t *testing.T) { // each result is client-go's
	other := errors.New("x")
	for final, after := range map[error]error{
		other:                    other,
		context.Canceled:         conflict,
		context.DeadlineExceeded: conflict,
		//lint:ignore SA1019 programs return it
		wait.ErrWaitTimeout: conflict,
	} {
		calls := 0
		err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
			if calls++; calls == 1 {
				return conflict
			}
			return final
		})
		require.Equal(t, after, err)
		require.Equal(t, 2, calls)
		require.Equal(t, final, retry.RetryOnConflict(retry.DefaultRetry, func() error { return final }))
	}
	err := retry.OnError(wait.Backoff{}, apierrors.IsConflict, func() error { panic("called") })
	require.True(t, wait.Interrupted(err), "without steps, the function is not called")
}

// If a program continues after panics, an update that has panicked must not look like a success.
func TestAPanicIsNotASuccess(t *testing.T) { // each result is client-go's
	handlers := utilruntime.PanicHandlers
	utilruntime.ReallyCrash, utilruntime.PanicHandlers = false, nil
	t.Cleanup(func() { utilruntime.ReallyCrash, utilruntime.PanicHandlers = true, handlers })
	backoff := wait.Backoff{Steps: 2, Duration: time.Millisecond}
	panics := func() error { panic("x") }
	require.True(t, wait.Interrupted(retry.RetryOnConflict(backoff, panics)))
	calls := 0
	require.Equal(t, error(conflict), retry.RetryOnConflict(backoff, func() error {
		if calls++; calls == 1 {
			return conflict
		}
		return panics()
	}))
	err := retry.OnError(backoff, func(error) bool { panic("y") }, func() error { return conflict })
	require.True(t, wait.Interrupted(err))
}

func TestTheLastErrorIsReturnedAtTheLongestWait(t *testing.T) { // as in client-go
	backoff := wait.Backoff{Steps: 5, Duration: time.Millisecond, Factor: 10, Cap: 5 * time.Millisecond}
	require.Equal(t, error(conflict), retry.RetryOnConflict(backoff, func() error { return conflict }))
}

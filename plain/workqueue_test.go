package plain_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/plain"
)

// A key that fails is retried, after longer and longer waits. A panic counts as a failure.
func TestFailedKeysAreRetried(t *testing.T) {
	queue := plain.NewQueue[types.NamespacedName]()
	ctx, cancel := context.WithCancel(t.Context())
	var calls atomic.Int32
	queue.Add(types.NamespacedName{Name: "a"})
	plain.Work(ctx, queue, 2, func(context.Context, types.NamespacedName) error {
		switch calls.Add(1) {
		case 1:
			return errors.New("no")
		case 2:
			panic("a bug")
		}
		cancel()
		return nil
	})
	require.EqualValues(t, 3, calls.Load())
}

// If a key is added with two times, the earlier time counts, and Get returns the key once.
func TestDelayedKeysComeInTheOrderOfTheirTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		queue := plain.NewQueue[string]()
		defer queue.ShutDown()
		began := time.Now()
		for n := range 100 {
			queue.AddAfter(fmt.Sprint(n), time.Duration(200-n)*time.Millisecond)
		}
		queue.AddAfter("0", 10*time.Millisecond)
		queue.AddAfter("1", time.Hour)
		for n := range 100 {
			key, ok := queue.Get()
			require.True(t, ok)
			want, at := fmt.Sprint(100-n), time.Duration(100+n)*time.Millisecond
			if n == 0 {
				want, at = "0", 10*time.Millisecond
			}
			require.Equal(t, want, key)
			require.Equal(t, at, time.Since(began))
			queue.Done(key)
		}
	})
}

package workqueue_test

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/workqueue"
)

func TestTryGetDoesNotWait(t *testing.T) {
	t.Parallel()
	q := newQueue()
	_, ok := q.TryGet()
	require.False(t, ok)
	q.Add("a")
	key, ok := q.TryGet()
	require.True(t, ok)
	require.Equal(t, "a", key)
	_, ok = q.TryGet()
	require.False(t, ok)
	q.ShutDown()
	_, ok = q.TryGet()
	require.False(t, ok)
	require.Equal(t, 1, q.Stats().Processing)
	q.Done("a")
}

func TestGetReturnsTheCauseOfItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue()
		reason := errors.New("the lease is lost")
		ctx, cancel := context.WithCancelCause(t.Context())
		failed := make(chan error)
		go func() {
			_, err := q.Get(ctx)
			failed <- err
		}()
		synctest.Wait()
		cancel(reason)
		require.ErrorIs(t, <-failed, reason)

		q.Add("a")
		_, err := q.Get(ctx)
		require.ErrorIs(t, err, reason, "a worker whose context has ended gets no key, even if one is ready")
		require.Equal(t, 1, q.Len())
	})
}

func TestOneAddWakesOneGet(t *testing.T) { // WQ-1, WQ-2
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue()
		var mu sync.Mutex
		var taken []string
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() {
				key, err := q.Get(t.Context())
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					taken = append(taken, key)
				}
			})
		}
		for i := range 4 {
			synctest.Wait()
			mu.Lock()
			require.Len(t, taken, i)
			mu.Unlock()
			q.Add(strconv.Itoa(i))
		}
		synctest.Wait()
		q.ShutDown()
		wg.Wait()
		require.Equal(t, []string{"0", "1", "2", "3"}, taken)
	})
}

func TestDoneWakesAGetForAKeyThatWasAddedAgain(t *testing.T) { // WQ-3
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue()
		q.Add("a")
		get(t, q)
		q.Add("a")
		second := make(chan string, 1)
		go func() {
			key, _ := q.Get(t.Context())
			second <- key
		}()
		synctest.Wait()
		require.Empty(t, second, "a is with the first worker")
		q.Done("a")
		require.Equal(t, "a", <-second)
	})
}

func TestShutDownWakesEveryGet(t *testing.T) { // WQ-2
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue()
		failed := make(chan error, 10)
		for range cap(failed) {
			go func() {
				_, err := q.Get(context.Background())
				failed <- err
			}()
		}
		synctest.Wait()
		q.ShutDown()
		for range cap(failed) {
			require.ErrorIs(t, <-failed, workqueue.ErrShutDown)
		}
	})
}

func TestAGetThatIsWokenAndCancelledLosesNoKey(t *testing.T) {
	t.Parallel()
	for range 200 {
		synctest.Test(t, func(t *testing.T) {
			q := newQueue()
			ctx, cancel := context.WithCancel(t.Context())
			keys := make(chan string, 2)
			for _, ctx := range []context.Context{ctx, t.Context()} {
				go func() {
					if key, err := q.Get(ctx); err == nil {
						keys <- key
					}
				}()
				synctest.Wait()
			}
			q.Add("a") // wakes the first Get, which has been blocked longest
			cancel()
			require.Equal(t, "a", <-keys, "the first or the second Get gets the key")
			q.ShutDown()
		})
	}
}

func TestNoWakeUpIsLostOnGetsThatAreAboutToBlock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		// All Gets have found nothing ready when the keys come, but none of the Gets is blocked
		// yet. So the second and third Add have no Get to wake.
		q := newQueue()
		keys := []string{"a", "b", "c"}
		block := make(chan struct{})
		taken := make(chan string, len(keys))
		for range keys {
			go func() {
				key, _ := q.Get(gatedContext{t.Context(), block})
				taken <- key
			}()
		}
		synctest.Wait()
		for _, key := range keys {
			q.Add(key)
		}
		close(block)
		require.ElementsMatch(t, keys, []string{<-taken, <-taken, <-taken})
	})
}

// gatedContext is a context that delays a caller that is about to wait for its end.
type gatedContext struct {
	context.Context
	open <-chan struct{}
}

func (g gatedContext) Done() <-chan struct{} {
	<-g.open
	return g.Context.Done()
}

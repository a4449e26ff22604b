package workqueue_test

import (
	"context"
	"errors"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/workqueue"
)

func TestKeysComeInTheOrderOfTheirFirstAdd(t *testing.T) { // WQ-1, WQ-5
	t.Parallel()
	q := newQueue()
	for _, key := range []string{"c", "a", "c", "b", "a"} {
		q.Add(key)
	}
	require.Equal(t, 3, q.Len())
	require.Equal(t, []string{"c", "a", "b"}, takeAll(t, q))
}

func TestAKeyAddedWhileProcessedComesBackAtTheEnd(t *testing.T) { // WQ-3, WQ-4, WQ-5
	t.Parallel()
	q := newQueue()
	q.Add("a")
	require.Equal(t, "a", get(t, q))
	for range 5 {
		q.Add("a")
	}
	q.Add("b")
	require.Equal(t, 1, q.Len(), "a waits for its Done")
	q.Done("a")
	require.Equal(t, []string{"b", "a"}, takeAll(t, q))
	require.Zero(t, q.Len(), "five adds gave one more run")
}

func TestLenCountsOnlyReadyKeys(t *testing.T) { // WQ-6
	t.Parallel()
	q := newQueue()
	q.Add("processing and added again")
	get(t, q)
	q.Add("processing and added again")
	require.Zero(t, q.Len())
	q.Add("ready")
	require.Equal(t, 1, q.Len())
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

func TestAfterShutDownQueuedKeysAreStillHandedOut(t *testing.T) { // WQ-1, WQ-2, WQ-10
	t.Parallel()
	q := newQueue()
	q.Add("processed, then again")
	get(t, q)
	q.Add("processed, then again")
	q.Add("queued")
	q.ShutDown()
	q.ShutDown()
	q.Add("too late")
	q.AddAfter("too late", 0)

	require.Equal(t, "queued", get(t, q))
	_, err := q.Get(t.Context())
	require.ErrorIs(t, err, workqueue.ErrShutDown, "WQ-11: although a key is still to come")
	q.Done("processed, then again")
	require.Equal(t, "processed, then again", get(t, q))
	_, err = q.Get(t.Context())
	require.ErrorIs(t, err, workqueue.ErrShutDown)
	require.EqualValues(t, 2, q.Stats().Refused)
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

func TestAKeyThatIsNotHashableLeavesTheQueueUsable(t *testing.T) {
	t.Parallel()
	q := workqueue.New(workqueue.Options[any]{})
	require.Panics(t, func() { q.Add([]string{"a slice"}) })
	require.Panics(t, func() { q.AddAfter([]string{"a slice"}, 1) })
	require.Panics(t, func() { q.Done([]string{"a slice"}) })
	q.Add("a")
	require.Equal(t, []any{"a"}, takeAll(t, q))
	require.NoError(t, q.Verify())
	require.NoError(t, q.Drain(t.Context()))
}

func TestKeysThatAreDoneAreNotRetained(t *testing.T) { // WQ-7
	t.Parallel()
	type object [1 << 10]byte
	q := workqueue.New(workqueue.Options[*object]{})
	var gone []weak.Pointer[object]
	for range 100 {
		key := new(object)
		gone = append(gone, weak.Make(key))
		q.Add(key)
	}
	last := new(object) // keeps the queue non-empty
	q.Add(last)
	for range gone {
		q.Done(get(t, q))
	}
	runtime.GC()
	for _, key := range gone {
		require.Nil(t, key.Value())
	}
	require.Same(t, last, get(t, q))
}

// Not parallel, because it measures the heap.
func TestMemoryOfABurstIsGivenBack(t *testing.T) { // WQ-7
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	synctest.Test(t, func(t *testing.T) {
		const burst = 100_000
		q := workqueue.New(workqueue.Options[int]{})
		q.Add(-1) // never taken, so the queue is never empty
		get(t, q)
		before := heap()
		for key := range burst {
			q.Add(key)
			q.AddAfter(key, time.Hour)
		}
		full := heap() - before
		takeAll(t, q)
		time.Sleep(time.Hour)
		synctest.Wait()
		require.Len(t, takeAll(t, q), burst)
		require.Less(t, heap(), before+full/50, "the burst took %d bytes", full)
		require.NoError(t, q.Verify())
	})
}

// The maps of groups and failures do not shrink by themselves.
func TestMemoryOfManyGroupsAndFailuresIsGivenBack(t *testing.T) { // WQ-7
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	const burst = 50_000
	q := workqueue.New(workqueue.Options[int]{
		Group:       strconv.Itoa,
		RateLimiter: workqueue.Exponential[int](-1, -1), // adds at once
	})
	q.Retry(-1) // never taken
	before := heap()
	for key := range burst {
		q.Retry(key)
	}
	full := heap() - before
	for range burst {
		key := get(t, q)
		q.Forget(key)
		q.Done(key)
	}
	require.Less(t, heap(), before+full/20, "the burst took %d bytes", full)
	require.NoError(t, q.Verify())
}

func TestAddGetDoneAllocatesNothing(t *testing.T) {
	q := newQueue()
	ctx := t.Context()
	require.Zero(t, testing.AllocsPerRun(1000, func() {
		q.Add("a")
		key, _ := q.Get(ctx)
		q.Add("a")
		q.Done(key)
		key, _ = q.Get(ctx)
		q.Done(key)
	}))
}

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

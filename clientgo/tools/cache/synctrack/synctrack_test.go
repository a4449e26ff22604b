package synctrack_test

import (
	"errors"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/cache/synctrack"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	_ cache.DoneChecker = &synctrack.SingleFileTracker{}
	_ cache.DoneChecker = &synctrack.AsyncTracker[string]{}
)

func TestASingleFileTrackerSyncsWhenAllIsFinishedAndTheSourceHasSynced(t *testing.T) {
	for _, sourceFirst := range []bool{true, false} {
		track := synctrack.NewSingleFileTracker("name")
		require.Equal(t, "name", track.Name())
		track.Start()
		track.Start()
		track.Finished()
		if sourceFirst {
			track.UpstreamHasSynced()
		}
		require.False(t, track.HasSynced())
		track.Finished()
		if !sourceFirst {
			require.False(t, track.HasSynced())
			track.UpstreamHasSynced()
		}
		require.True(t, track.HasSynced())
		<-track.Done()
		track.Start()
		require.True(t, track.HasSynced(), "a tracker that has synced stays synced")
		track.Finished()
	}
}

func TestFinishingTooOftenPanics(t *testing.T) {
	track := synctrack.NewSingleFileTracker("")
	require.PanicsWithValue(t, "synctrack: negative counter; this logic error means HasSynced may return incorrect value", track.Finished)
}

func TestKeysMayBeFinishedInAnyOrderAndMoreThanOnce(t *testing.T) {
	track := synctrack.NewAsyncTracker[string]("name")
	require.Equal(t, "name", track.Name())
	track.Finished("other")
	track.Start("a")
	track.Start("a")
	track.Start("b")
	track.UpstreamHasSynced()
	track.Finished("b")
	track.Finished("b")
	require.False(t, track.HasSynced())
	track.Finished("a")
	require.True(t, track.HasSynced())
	<-track.Done()
}

func TestALazyResultIsCachedUntilNotify(t *testing.T) {
	n, fails := 0, false
	lazy := synctrack.Lazy[int]{Evaluate: func() (int, error) {
		n++
		if fails {
			return n, errors.New("failed")
		}
		return n, nil
	}}
	get := func() int { v, err := lazy.Get(); require.Equal(t, fails, err != nil); return v }
	require.Equal(t, []int{1, 1}, []int{get(), get()})
	fails = true
	require.Equal(t, 1, func() int { v, _ := lazy.Get(); return v }())
	lazy.Notify()
	require.Equal(t, []int{2, 3}, []int{get(), get()}, "errors are not cached")
	fails = false
	require.Equal(t, []int{4, 4}, []int{get(), get()})
}

// A Get before Notify returns the old result. A Get after Notify returns the new result, even if
// the old result is not ready yet.
func TestALazyResultIsNeverOlderThanNotify(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		version := 1
		release := map[int]chan struct{}{1: make(chan struct{}), 2: make(chan struct{})}
		lazy := synctrack.Lazy[int]{Evaluate: func() (int, error) {
			mu.Lock()
			v := version
			mu.Unlock()
			<-release[v]
			return v, nil
		}}
		got := make(chan int, 4)
		ask := func() { v, err := lazy.Get(); require.NoError(t, err); got <- v }
		go ask()
		go ask()
		synctest.Wait()
		mu.Lock()
		version = 2
		mu.Unlock()
		lazy.Notify()
		go ask()
		synctest.Wait()
		close(release[2])
		require.Equal(t, 2, <-got)
		close(release[1])
		require.Equal(t, []int{1, 1}, []int{<-got, <-got})
		ask()
		require.Equal(t, 2, <-got)
	})
}

package versions

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
)

// write stores a version of a/x.
func write(e *Engine) {
	e.Lock()
	defer e.Unlock()
	e.Begin(1)
	e.PutOnly(types.NamespacedName{Namespace: "a", Name: "x"}, &Version{Object: "x"}, nil)
}

// A reader that unpins an old view while a writer has the lock does not wait. The writer drops the
// versions of the view when it unlocks.
func TestViewReleasedDuringAWriteIsCollectedAtUnlock(t *testing.T) {
	e := New(nil)
	write(e)
	old := e.Pin()
	write(e)
	require.NotNil(t, e.pinned)

	e.Lock()
	e.Unpin(old)
	require.NotNil(t, e.pinned, "the writer must collect the view, not the reader")
	e.Unlock()
	require.Nil(t, e.pinned)
	require.Nil(t, e.byKey.find(types.NamespacedName{Namespace: "a", Name: "x"}).head.Load().older.Load())
	require.Zero(t, e.writeLock.state.Load())
}

// If no writer has the lock, the reader drops the versions itself.
func TestViewReleasedWithoutAWriterIsCollectedAtOnce(t *testing.T) {
	e := New(nil)
	write(e)
	old := e.Pin()
	write(e)
	e.Unpin(old)
	require.Nil(t, e.pinned)
	require.Zero(t, e.writeLock.state.Load())
}

// After each request a collection starts, even if a writer has the lock. Collections and writers
// never run at the same time.
func TestNoCollectRequestIsLost(t *testing.T) {
	rounds := 20_000
	if testing.Short() {
		rounds = 2_000
	}
	var one writeLock
	one.init()
	var wanted, collected atomic.Int64
	written, inside := 0, 0 // guarded by the lock, so the race detector checks the lock
	collect := func() {
		inside++
		collected.Store(wanted.Load())
		inside--
	}
	unlock := func() {
		if !one.release() {
			for one.handOver() {
				collect()
			}
		}
	}
	for range 20 {
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				for n := range rounds / 20 {
					one.lock()
					inside++
					if inside != 1 {
						t.Error("two goroutines have the lock at once")
					}
					written++
					inside--
					unlock()
					if n%64 == 0 {
						runtime.Gosched()
					}
				}
			})
			all.Go(func() {
				for range rounds / 20 {
					wanted.Add(1)
					if one.requestCollect() {
						collect()
						unlock()
					}
				}
			})
		}
		all.Wait()
		require.Equal(t, wanted.Load(), collected.Load(), "after all goroutines have ended, a collection must have followed the last request")
		require.Zero(t, one.state.Load())
	}
	require.Equal(t, 3*20*(rounds/20), written)
}

// The runtime releases snapshots in a separate goroutine, outside of every bubble. Meanwhile a
// writer in a bubble waits for the lock.
func TestWriteLockIsHandedOverAcrossSynctestBubbles(t *testing.T) {
	t.Parallel()
	taken := make(chan *writeLock)
	go func() {
		for one := range taken {
			for one.handOver() {
			}
		}
	}()
	defer close(taken)
	synctest.Test(t, func(t *testing.T) {
		one := new(writeLock)
		one.init()
		one.lock()
		done := make(chan struct{})
		go func() {
			one.lock()
			close(done)
		}()
		for one.state.Load() < oneWaiter {
			runtime.Gosched()
		}
		taken <- one
		<-done
		require.True(t, one.release())
	})
}

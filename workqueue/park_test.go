package workqueue_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/workqueue"
)

// after returns a function for Park that returns when d has passed or its context ends.
func after(d time.Duration) func(context.Context) error {
	return func(ctx context.Context) error {
		select {
		case <-time.After(d):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func TestAParkedKeyIsHeldBackAndItsAddsAreNotLost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue()
		q.Add("ready already")
		q.Add("other")
		for _, key := range []string{"ready already", "added later", "delayed", "never added"} {
			q.Park(key, after(time.Minute))
		}
		q.Add("added later")
		q.Add("added later")
		q.AddAfter("delayed", time.Second)
		time.Sleep(time.Second)
		synctest.Wait()
		require.Equal(t, []string{"other"}, takeAll(t, q))
		require.Equal(t, 4, q.Stats().Parked)
		require.Equal(t, 3, q.Stats().Dirty)
		require.NoError(t, q.Verify())

		time.Sleep(time.Minute)
		synctest.Wait()
		require.ElementsMatch(t, []string{"ready already", "added later", "delayed"}, takeAll(t, q))
		require.Empty(t, q.Inspect())
		require.NoError(t, q.Drain(t.Context()))
	})
}

// A worker that wrote an object parks its key. The next run of the key then sees the write, whether
// the event of this write or another event caused the run.
func TestAWorkerThatParksItsKeyReadsItsOwnWrite(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue()
		var server, store atomic.Int64 // versions
		seen := make(chan int64)       // the store's version
		go func() {
			for version := range seen {
				time.Sleep(time.Second) // the store is behind the server
				store.Store(version)
			}
		}()
		var stale, writes atomic.Int64
		end := running(t, q, 2, func(_ context.Context, key string) error {
			if store.Load() < server.Load() {
				stale.Add(1)
			}
			written := server.Add(1)
			writes.Add(1)
			q.Park(key, func(ctx context.Context) error {
				for store.Load() < written && ctx.Err() == nil {
					time.Sleep(time.Millisecond)
				}
				return ctx.Err()
			})
			seen <- written
			return nil
		})
		for range 50 {
			q.Add("a")
			time.Sleep(100 * time.Millisecond)
		}
		time.Sleep(time.Minute)
		require.NoError(t, end())
		close(seen)
		require.Zero(t, stale.Load())
		require.EqualValues(t, 6, writes.Load(), "one write at once, and then one each time the store catches up")
	})
}

func TestAKeyIsFreeWhenAllItsWaitsAreOver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue()
		q.Add("a")
		q.Park("a", after(time.Minute))
		q.Park("a", after(time.Second))
		time.Sleep(2 * time.Second)
		synctest.Wait()
		require.Zero(t, q.Len())
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, []string{"a"}, takeAll(t, q))
		require.NoError(t, q.Drain(t.Context()))
	})
}

func TestAWaitThatFailsIsLoggedAndFreesItsKey(t *testing.T) {
	t.Parallel()
	for name, until := range map[string]func(context.Context) error{
		"error": func(context.Context) error { return errors.New("the store has ended") },
		"panic": func(context.Context) error { panic("the store has ended") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				q := workqueue.New(workqueue.Options[string]{Name: "pods", Logger: slog.New(slog.NewTextHandler(&log, nil))})
				q.Add("a")
				q.Park("a", until)
				synctest.Wait()
				require.Equal(t, []string{"a"}, takeAll(t, q))
				require.NoError(t, q.Drain(t.Context()))
				require.Contains(t, log.String(), "the store has ended")
				require.Contains(t, log.String(), "queue=pods key=a")
				require.Equal(t, name == "panic", strings.Contains(log.String(), "park_test.go"), "the stack of a panic")
			})
		})
	}
}

func TestShutDownDiscardsTheRunsOfParkedKeys(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue()
		for _, key := range []string{"with a worker", "held back"} {
			q.Add(key)
		}
		require.Equal(t, "with a worker", get(t, q))
		q.Add("with a worker")
		for _, key := range []string{"with a worker", "held back", "never added"} {
			q.Park(key, after(time.Hour))
		}
		start := time.Now()
		drained := make(chan error, 1)
		go func() { drained <- q.Drain(t.Context()) }()
		synctest.Wait()
		require.Empty(t, drained)
		q.Done("with a worker")
		require.NoError(t, <-drained)
		require.Zero(t, time.Since(start))
		s := q.Stats()
		require.EqualValues(t, 2, s.Discarded)
		require.EqualValues(t, 2, s.Dropped)
		require.Zero(t, s.Dirty)

		q.Park("too late", func(context.Context) error { panic("never called") })
		require.EqualValues(t, 1, q.Stats().Refused)
	})
}

func TestDrainWaitsForAWaitThatIgnoresItsContext(t *testing.T) { // G10
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue()
		q.Park("a", func(context.Context) error {
			time.Sleep(time.Minute)
			return nil
		})
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var left *workqueue.DrainError
		require.ErrorAs(t, q.Drain(short), &left)
		require.Zero(t, left.Left, "no key is left")
		start := time.Now()
		require.NoError(t, q.Drain(t.Context()))
		require.Equal(t, 59*time.Second, time.Since(start))
	})
}

func TestRequeueWhenRunsTheKeyAgainWhenTheWaitIsOver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue()
		runs := newJournal()
		var first atomic.Bool
		end := running(t, q, 1, func(_ context.Context, key string) error {
			runs.note(key)
			if first.CompareAndSwap(false, true) {
				return workqueue.RequeueWhen(after(time.Minute))
			}
			return nil
		})
		q.Add("a")
		time.Sleep(time.Second)
		q.Add("a")
		time.Sleep(time.Hour)
		require.Equal(t, []string{"a @0s", "a @1m0s"}, runs.all())
		require.NoError(t, end())
		require.Zero(t, q.Stats().Failures)
	})
}

func TestAWaitThatEndsItsGoroutineFreesItsKey(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		q := workqueue.New(workqueue.Options[string]{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		q.Add("a")
		q.Park("a", func(context.Context) error {
			runtime.Goexit()
			return nil
		})
		synctest.Wait()
		require.Equal(t, []string{"a"}, takeAll(t, q))
		require.NoError(t, q.Drain(t.Context()))
		require.Contains(t, log.String(), "Goexit")
	})
}

// The last write of a worker before ShutDown may not be in the store when the run ends. So the key
// does not run again.
func TestParkAfterShutDownDiscardsThePendingRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue()
		var runs atomic.Int64
		end := running(t, q, 1, func(_ context.Context, key string) error {
			runs.Add(1)
			q.Add(key) // the event of the write does this
			q.ShutDown()
			q.Park(key, func(context.Context) error { panic("never called") })
			return nil
		})
		q.Add("a")
		synctest.Wait()
		require.NoError(t, end())
		require.EqualValues(t, 1, runs.Load())
		s := q.Stats()
		require.EqualValues(t, 1, s.Refused)
		require.EqualValues(t, 1, s.Discarded)
	})
}

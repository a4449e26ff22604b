package workqueue_test

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/workqueue"
)

func TestTheObserverReceivesEveryEvent(t *testing.T) { // WQ-16, WQ-20
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex // the goroutine of the timer calls hooks as well
		var notified []string
		record := func(format string, args ...any) {
			mu.Lock()
			defer mu.Unlock()
			notified = append(notified, fmt.Sprintf(format, args...))
		}
		q := workqueue.New(workqueue.Options[string]{Observer: &workqueue.Observer[string]{
			OnAdd:    func(key string) { record("add %s", key) },
			OnMerged: func(key string) { record("merged %s", key) },
			OnGet:    func(item workqueue.Item[string]) { record("get %s %v", item.Key, item.Waited) },
			OnDone:   func(key string, ran time.Duration) { record("done %s %v", key, ran) },
			OnRetry:  func(key string, after time.Duration) { record("retry %s %v", key, after) },
		}})
		q.Add("a")
		q.Add("a")
		time.Sleep(time.Second)
		get(t, q)
		time.Sleep(time.Minute)
		q.Add("a")
		time.Sleep(time.Minute)
		q.Done("a")
		q.Done("a")
		get(t, q)
		q.AddAfter("a", time.Hour)
		q.AddAfter("b", 0)
		time.Sleep(time.Hour)
		synctest.Wait()
		q.ShutDown()
		q.Add("too late")
		q.AddAfter("too late", 0)
		q.AddAfter("too late", 1)
		mu.Lock()
		defer mu.Unlock()
		require.Equal(t, []string{
			"add a", "merged a", "get a 1s",
			"add a", "done a 2m0s", "get a 1m0s",
			"retry a 1h0m0s", "retry b 0s", "add b", "add a",
		}, notified)
	})
}

func TestHooksMayUseTheQueue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var q *workqueue.Queue[string]
		look := func() { q.Stats(); q.Inspect(); q.Len() }
		q = workqueue.New(workqueue.Options[string]{Observer: &workqueue.Observer[string]{
			OnAdd:    func(string) { look(); q.Add("from the hook") },
			OnMerged: func(string) { look() },
			OnGet:    func(workqueue.Item[string]) { look() },
			OnDone:   func(string, time.Duration) { look() },
			OnRetry:  func(string, time.Duration) { look() },
		}})
		q.AddAfter("a", time.Second)
		time.Sleep(time.Second)
		synctest.Wait()
		require.Equal(t, []string{"a", "from the hook"}, takeAll(t, q))
		require.NoError(t, q.Drain(t.Context()))
	})
}

func TestStatsAreConsistent(t *testing.T) { // WQ-16: Dirty corresponds to the depth
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue()
		require.Equal(t, workqueue.Stats{Name: "test", Timed: true}, q.Stats())

		q.Add("slow")
		q.Add("done")
		get(t, q)
		get(t, q)
		q.Done("done")
		time.Sleep(time.Second)
		q.Add("slow")
		for range 5 {
			q.Add("ready")
		}
		time.Sleep(time.Second)
		q.Add("ready later")
		q.AddAfter("delayed", time.Hour)
		q.AddAfter("ready", time.Hour)
		q.Done("stray")
		require.Equal(t, workqueue.Stats{
			Timed: true,
			Name:  "test",
			Ready: 2, Delayed: 2, Processing: 1, Dirty: 3,
			Levels:      []workqueue.Level{{Priority: 0, Ready: 2}},
			OldestReady: time.Second, LongestRunning: 2 * time.Second, Unfinished: 2 * time.Second,
			Adds: 5, Merged: 4, Retries: 2, Gets: 2, Dones: 1, StrayDones: 1,
		}, q.Stats())

		q.Done("slow")
		require.Equal(t, []string{"ready", "ready later", "slow"}, takeAll(t, q))
		q.ShutDown()
		q.Add("too late")
		require.Equal(t, workqueue.Stats{
			Name: "test", ShuttingDown: true, Timed: true,
			Adds: 5, Merged: 4, Retries: 2, Gets: 5, Dones: 5, StrayDones: 1, Refused: 1, Discarded: 2,
		}, q.Stats())
	})
}

func TestStatsHaveTheDepthOfEachPriorityAndTheOldestKeyOfAll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.New(workqueue.Options[string]{Timed: true, Ageing: -1, Group: func(key string) string { return key[:1] }})
		addAt(q, 0, "a1")
		time.Sleep(500 * time.Millisecond)
		addAt(q, 0, "a2")
		time.Sleep(500 * time.Millisecond)
		addAt(q, workqueue.LowPriority, "b1")
		time.Sleep(time.Second)
		addAt(q, 0, "c1")
		addAt(q, 0, "c2")
		addAt(q, 7, "a3")
		q.AddWith("delayed", workqueue.AddOptions{Priority: 9, After: time.Hour})
		q.Park("parked", after(time.Hour))
		addAt(q, 8, "parked")
		time.Sleep(time.Second)

		s := q.Stats()
		require.Equal(t, []workqueue.Level{{Priority: 7, Ready: 1}, {Priority: 0, Ready: 4}, {Priority: workqueue.LowPriority, Ready: 1}}, s.Levels)
		require.Equal(t, 3*time.Second, s.OldestReady, "a1 is the oldest, although its priority is neither the highest nor the lowest")
		addAt(q, 7, "c1") // with a raised priority
		for _, want := range []string{"a3", "c1", "a1"} {
			require.Equal(t, want, get(t, q))
			q.Done(want)
		}
		s = q.Stats()
		require.Equal(t, []workqueue.Level{{Priority: 0, Ready: 2}, {Priority: workqueue.LowPriority, Ready: 1}}, s.Levels, "levels without keys are left out")
		require.Equal(t, 2500*time.Millisecond, s.OldestReady, "a2 is the oldest, although its group is not the next")
		q.ShutDown()
	})
}

func TestOldestReadyLeavesOutTheKeysOwnRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue()
		q.Add("a")
		get(t, q)
		q.Add("a")
		time.Sleep(time.Minute)
		require.Zero(t, q.Stats().OldestReady)
		q.Done("a")
		time.Sleep(time.Second)
		require.Equal(t, time.Second, q.Stats().OldestReady)
	})
}

func TestInspectReturnsProcessingKeys(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue()
		require.Empty(t, q.Inspect())
		first := time.Now()
		for _, key := range []string{"a", "b", "c"} {
			q.Add(key)
			get(t, q)
			time.Sleep(time.Second)
		}
		q.Add("c")
		q.Done("b")
		running := q.Inspect()
		require.Len(t, running, 2)
		require.Equal(t, "a", running[0].Key)
		require.True(t, running[0].Started.Equal(first))
		require.False(t, running[0].Dirty)
		require.Equal(t, "c", running[1].Key)
		require.True(t, running[1].Started.Equal(first.Add(2*time.Second)))
		require.True(t, running[1].Dirty)
	})
}

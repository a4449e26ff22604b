package workqueue_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/workqueue"
)

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

// If times are kept only from the first Run on, keys with workers count from that moment.
func TestUnfinishedCountsFromWhenTimesAreKept(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.New(workqueue.Options[string]{})
		for _, key := range []string{"a", "b"} {
			q.Add(key)
			_, err := q.Get(t.Context())
			require.NoError(t, err)
		}
		time.Sleep(time.Hour)
		require.Zero(t, q.Stats().Unfinished)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- q.Run(ctx, 1, func(context.Context, string) error { return nil }) }()
		synctest.Wait()
		time.Sleep(time.Minute)
		require.Equal(t, 2*time.Minute, q.Stats().Unfinished)
		q.Done("a")
		require.Equal(t, time.Minute, q.Stats().Unfinished)
		q.Done("b")
		require.Zero(t, q.Stats().Unfinished)
		cancel()
		require.NoError(t, <-ended)
	})
}

func TestInspectReturnsEveryKey(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		at := func(d time.Duration) time.Time { return start.Add(d) }
		q := workqueue.New(workqueue.Options[string]{Timed: true, Group: func(key string) string { return key[:1] }})
		require.Empty(t, q.Inspect())
		_, ok := q.Lookup("unknown")
		require.False(t, ok)

		q.AddWith("a running", workqueue.AddOptions{Cause: "created"})
		get(t, q)
		time.Sleep(time.Second)
		q.AddWith("b running and dirty", workqueue.AddOptions{Cause: "updated"})
		get(t, q)
		q.AddWith("b running and dirty", workqueue.AddOptions{Cause: "updated again"})
		time.Sleep(time.Second)
		q.Add("c ready")
		q.AddWith("d ready first", workqueue.AddOptions{Priority: 1})
		q.AddWith("e delayed", workqueue.AddOptions{After: time.Hour, Priority: -1, Cause: "retry"})
		q.AddAfter("f delayed", time.Minute)
		q.Retry("f delayed")
		q.Park("g parked", after(time.Minute))
		q.Add("g parked")
		time.Sleep(time.Millisecond)

		states := q.Inspect()
		for i, want := range []workqueue.KeyState[string]{
			{Key: "a running", Processing: true, Started: at(0), Causes: workqueue.Causes{First: "created", Last: "created", Count: 1}},
			{
				Key: "b running and dirty", Processing: true, Started: at(time.Second), Dirty: true,
				Causes: workqueue.Causes{First: "updated again", Last: "updated again", Count: 1},
			},
			{Key: "d ready first", Dirty: true, Ready: true, ReadySince: at(2 * time.Second), Priority: 1, Causes: workqueue.Causes{Count: 1}},
			{Key: "c ready", Dirty: true, Ready: true, ReadySince: at(2 * time.Second), Causes: workqueue.Causes{Count: 1}},
			{Key: "g parked", Dirty: true, Parked: true, Causes: workqueue.Causes{Count: 1}},
			{Key: "f delayed", Until: at(2*time.Second + 5*time.Millisecond), Causes: workqueue.Causes{Count: 2}, Retries: 1},
			{Key: "e delayed", Until: at(time.Hour + 2*time.Second), Priority: -1, Causes: workqueue.Causes{First: "retry", Last: "retry", Count: 1}},
		} {
			want.Group = want.Key[:1]
			require.Equal(t, want, states[i])
			alone, ok := q.Lookup(want.Key)
			require.True(t, ok)
			require.Equal(t, want, alone)
		}
		require.Len(t, states, 7)
		q.ShutDown()
	})
}

func TestInspectSortsWaitingKeysByTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.New(workqueue.Options[string]{MinInterval: time.Minute})
		q.Add("cools, and is delayed for longer")
		q.Add("cools")
		takeAll(t, q)
		q.Add("cools")
		q.AddAfter("cools, and is delayed for longer", 3*time.Minute)
		q.AddWith("urgent, but later", workqueue.AddOptions{After: time.Hour, Priority: 9})
		q.AddAfter("soon", time.Second)
		q.AddAfter("later", 2*time.Minute)
		var keys []string
		for _, state := range q.Inspect() {
			keys = append(keys, state.Key)
		}
		require.Equal(t, []string{"soon", "cools", "later", "cools, and is delayed for longer", "urgent, but later"}, keys)
		q.ShutDown()
	})
}

func TestCausesAreTheFirstAndTheLastOfARun(t *testing.T) {
	t.Parallel()
	q := newQueue()
	because := func(causes ...string) {
		for _, cause := range causes {
			q.AddWith("a", workqueue.AddOptions{Cause: cause})
		}
	}
	because("", "created", "", "updated", "secret changed", "")
	item, err := q.GetItem(t.Context())
	require.NoError(t, err)
	require.Equal(t, workqueue.Causes{First: "created", Last: "secret changed", Count: 6}, item.Causes)
	because("resync")
	q.Done("a")
	item, err = q.GetItem(t.Context())
	require.NoError(t, err)
	require.Equal(t, workqueue.Causes{First: "resync", Last: "resync", Count: 1}, item.Causes, "the second run has causes of its own")
}

func TestAWorkerOfRunLooksUpWhyItHasTheKey(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue()
		var causes workqueue.Causes
		end := running(t, q, 1, func(_ context.Context, key string) error {
			state, _ := q.Lookup(key)
			causes = state.Causes
			return nil
		})
		q.AddWith("a", workqueue.AddOptions{Cause: "watch"})
		synctest.Wait()
		require.NoError(t, end())
		require.Equal(t, "watch", causes.First)
	})
}

func TestTimesAreKeptOnlyOnRequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.New(workqueue.Options[string]{DrainTimeout: time.Hour})
		q.Add("a")
		q.Add("b")
		item, err := q.GetItem(t.Context())
		require.NoError(t, err)
		time.Sleep(time.Hour)
		require.Zero(t, item.Waited)
		s := q.Stats()
		require.False(t, s.Timed)
		require.Zero(t, s.OldestReady)
		require.Zero(t, s.LongestRunning)
		state, _ := q.Lookup("a")
		require.True(t, state.Started.IsZero())

		end := draining(t, q, 1, func(context.Context, string) error {
			time.Sleep(10 * time.Minute)
			return nil
		})
		q.Add("c")
		time.Sleep(time.Minute)
		s = q.Stats()
		require.True(t, s.Timed)
		require.Equal(t, time.Minute, s.OldestReady, "of c")
		require.Equal(t, time.Minute, s.LongestRunning, "only the part of a's run since times are kept counts")
		q.Done("a")
		require.NoError(t, end())
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

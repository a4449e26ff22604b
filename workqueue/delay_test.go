package workqueue_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/workqueue"
)

// ready lets d pass and returns the keys that became ready.
func ready(t *testing.T, q *workqueue.Queue[string], d time.Duration) []string {
	t.Helper()
	time.Sleep(d)
	synctest.Wait()
	require.NoError(t, q.Verify())
	return takeAll(t, q)
}

func TestADelayedKeyIsAddedAtItsTime(t *testing.T) { // WQ-20
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue()
		q.AddAfter("a", time.Second)
		require.Equal(t, 1, q.Stats().Delayed)
		require.Empty(t, ready(t, q, time.Second-1))
		require.Equal(t, []string{"a"}, ready(t, q, 1))
		require.Empty(t, ready(t, q, time.Hour), "the key is added only once, WQ-25")
		require.EqualValues(t, 1, q.Stats().Retries)
	})
}

func TestANonPositiveDelayAddsAtOnce(t *testing.T) { // WQ-20
	t.Parallel()
	q := newQueue()
	q.AddAfter("a", 0)
	q.AddAfter("b", -time.Second)
	require.Equal(t, []string{"a", "b"}, takeAll(t, q))
	require.EqualValues(t, 2, q.Stats().Retries)
}

func TestTheEarliestOfSeveralDelaysApplies(t *testing.T) { // WQ-21
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue()
		q.AddAfter("later, then earlier", 10*time.Second)
		q.AddAfter("later, then earlier", time.Second)
		q.AddAfter("earlier, then later", time.Second)
		q.AddAfter("earlier, then later", 10*time.Second)
		require.Equal(t, 2, q.Stats().Delayed)
		require.Equal(t, []string{"later, then earlier", "earlier, then later"}, ready(t, q, time.Second))
		require.Empty(t, ready(t, q, time.Hour), "the later times no longer apply")

		q.AddAfter("earlier, then later", 10*time.Second)
		require.Equal(t, []string{"earlier, then later"}, ready(t, q, 10*time.Second), "a new delay does not depend on the previous one")
	})
}

func TestKeysThatAreDueAreAddedInTheOrderOfTheirTimes(t *testing.T) { // WQ-22
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue()
		const n = 500
		var want []string
		for _, i := range rand.Perm(n) {
			q.AddAfter(fmt.Sprintf("%03d", i), time.Duration(i+1)*time.Millisecond)
		}
		for i := range n {
			want = append(want, fmt.Sprintf("%03d", i))
		}
		require.Equal(t, want, ready(t, q, time.Second))

		for _, key := range want {
			q.AddAfter(key, time.Second)
		}
		require.Equal(t, want, ready(t, q, time.Second), "due at the same time: in the order of the calls")
	})
}

func TestAnAddDoesNotCancelADelay(t *testing.T) { // WQ-23
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue()
		q.AddAfter("a", time.Second)
		q.Add("a")
		require.Equal(t, []string{"a"}, ready(t, q, 0))
		require.Equal(t, []string{"a"}, ready(t, q, time.Second))
	})
}

func TestADelayThatPassesWhileTheKeyIsReadyIsMerged(t *testing.T) { // WQ-1
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue()
		q.AddAfter("a", time.Second)
		q.Add("a")
		time.Sleep(time.Minute)
		synctest.Wait()
		require.EqualValues(t, 1, q.Stats().Merged)
		require.Equal(t, []string{"a"}, takeAll(t, q))
	})
}

func TestADelayThatPassesWhileTheKeyIsProcessedGivesOneMoreRun(t *testing.T) { // WQ-4
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue()
		q.Add("a")
		get(t, q)
		q.AddAfter("a", time.Second)
		require.Empty(t, ready(t, q, time.Second))
		q.Done("a")
		require.Equal(t, []string{"a"}, takeAll(t, q))
	})
}

func TestADelayWakesABlockedGet(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue()
		start := time.Now()
		q.AddAfter("a", time.Hour)
		q.AddAfter("b", time.Minute)
		key, err := q.Get(t.Context())
		require.NoError(t, err)
		require.Equal(t, "b", key)
		require.Equal(t, time.Minute, time.Since(start))
		q.ShutDown()
	})
}

func TestAVeryLongDelayDoesNotOverflow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue()
		time.Sleep(time.Hour)
		q.AddAfter("never", math.MaxInt64)
		q.AddAfter("soon", time.Second)
		require.Equal(t, []string{"soon"}, ready(t, q, 24*time.Hour))
		require.Equal(t, 1, q.Stats().Delayed)
		q.ShutDown()
	})
}

func TestAddAfterNeverBlocks(t *testing.T) { // unlike WQ-24
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := workqueue.New(workqueue.Options[int]{})
		for i := range 5000 {
			q.AddAfter(i, time.Hour)
		}
		require.Equal(t, 5000, q.Stats().Delayed)
		q.ShutDown()
	})
}

func TestShutDownDiscardsDelayedKeys(t *testing.T) { // WQ-20, WQ-26
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue()
		q.Add("both queued and delayed")
		q.AddAfter("both queued and delayed", time.Second)
		q.AddAfter("delayed", time.Second)
		q.ShutDown()
		q.AddAfter("too late", time.Second)
		s := q.Stats()
		require.EqualValues(t, 2, s.Discarded)
		require.EqualValues(t, 1, s.Refused)
		require.EqualValues(t, 2, s.Retries)
		require.Equal(t, []string{"both queued and delayed"}, ready(t, q, time.Minute))
	})
}

func TestRetryUsesTheDelayOfTheLimiter(t *testing.T) { // WQ-30
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue()
		for failure, wait := range []time.Duration{5, 10, 20, 40} {
			require.Equal(t, failure, q.NumRequeues("a"))
			q.Retry("a")
			require.Empty(t, ready(t, q, wait*time.Millisecond-1))
			require.Equal(t, []string{"a"}, ready(t, q, 1))
		}
		q.Retry("a")
		q.Forget("a")
		require.Zero(t, q.NumRequeues("a"))
		require.Equal(t, []string{"a"}, ready(t, q, 80*time.Millisecond), "Forget removes nothing from the queue")
		q.Retry("a")
		require.Equal(t, []string{"a"}, ready(t, q, 5*time.Millisecond))
	})
}

func TestDelayModeDecidesBetweenTwoDelays(t *testing.T) {
	t.Parallel()
	type add = workqueue.AddOptions
	const second, minute, hour = time.Second, time.Minute, time.Hour
	for name, test := range map[string]struct {
		adds []add
		want []string
	}{
		"earliest, then earlier": {[]add{{After: hour}, {After: minute}}, []string{"1m0s"}},
		"earliest, then later":   {[]add{{After: minute}, {After: hour}}, []string{"1m0s"}},
		"latest, then later":     {[]add{{After: minute}, {After: hour, Delay: workqueue.Latest}}, []string{"1h0m0s"}},
		"latest, then earlier":   {[]add{{After: hour}, {After: minute, Delay: workqueue.Latest}}, []string{"1h0m0s"}},
		"latest, then now":       {[]add{{After: hour}, {Delay: workqueue.Latest}}, []string{"1h0m0s"}},
		"latest, then before":    {[]add{{After: hour}, {After: -1, Delay: workqueue.Latest}}, []string{"1h0m0s"}},
		"latest of none, before": {[]add{{After: -1, Delay: workqueue.Latest}}, []string{"0s"}},
		"latest of none, now":    {[]add{{Delay: workqueue.Latest}}, []string{"0s"}},
		"replace by later":       {[]add{{After: minute}, {After: hour, Delay: workqueue.Replace}}, []string{"1h0m0s"}},
		"replace by earlier":     {[]add{{After: hour}, {After: minute, Delay: workqueue.Replace}}, []string{"1m0s"}},
		"replace by now":         {[]add{{After: hour}, {Delay: workqueue.Replace}}, []string{"0s"}},
		"now beside a delay":     {[]add{{After: minute}, {}}, []string{"0s", "1m0s"}}, // WQ-23
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				q := newQueue()
				start := time.Now()
				var runs []string
				go serve(q, func(string) { runs = append(runs, time.Since(start).String()) })
				for _, how := range test.adds {
					q.AddWith("a", how)
				}
				time.Sleep(24 * hour)
				require.NoError(t, q.Drain(t.Context()))
				require.Equal(t, test.want, runs)
			})
		})
	}
}

func TestLatestDebouncesABurst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue()
		for range 10 {
			q.AddWith("a", workqueue.AddOptions{After: 2 * time.Second, Delay: workqueue.Latest, Cause: "edited"})
			time.Sleep(time.Second)
		}
		require.Zero(t, q.Len())
		time.Sleep(time.Second)
		synctest.Wait()
		item, err := q.GetItem(t.Context())
		require.NoError(t, err)
		require.Equal(t, 10, item.Causes.Count)
		q.Done("a")
	})
}

func TestReplaceReplacesPriorityAndCausesToo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue()
		q.AddWith("a", workqueue.AddOptions{After: time.Hour, Priority: 5, Cause: "old"})
		q.AddWith("a", workqueue.AddOptions{After: time.Minute, Priority: 1, Cause: "new", Delay: workqueue.Replace})
		state, ok := q.Lookup("a")
		require.True(t, ok)
		require.Equal(t, 1, state.Priority)
		require.Equal(t, workqueue.Causes{First: "new", Last: "new", Count: 1}, state.Causes)
		q.ShutDown()
	})
}

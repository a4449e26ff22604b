package workqueue_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/util/workqueue"
	testclock "k8s.io/utils/clock/testing"
)

var delayingKinds = map[string]workqueue.TypedDelayingQueueConfig[string]{
	"kept by kinform":       {},
	"of the program":        {Queue: nil}, // openDelaying sets the queue
	"of another clock":      {Clock: otherClock{}},
	"of program, and clock": {Clock: otherClock{}},
}

func eachDelaying(t *testing.T, test func(t *testing.T, q workqueue.TypedDelayingInterface[string])) {
	t.Helper()
	for name, config := range delayingKinds {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if name == "of the program" || name == "of program, and clock" {
					config.Queue = workqueue.NewTyped[string]()
				}
				q := workqueue.NewTypedDelayingQueueWithConfig(config)
				defer q.ShutDown()
				test(t, q)
			})
		})
	}
}

func take(t *testing.T, q workqueue.TypedInterface[string], want ...string) {
	t.Helper()
	synctest.Wait()
	require.Equal(t, len(want), q.Len())
	for _, item := range want {
		got, _ := q.Get()
		require.Equal(t, item, got)
		q.Done(got)
	}
}

func TestTheEarliestDelayWins(t *testing.T) { // WQ-20, WQ-21, WQ-22, WQ-23
	eachDelaying(t, func(t *testing.T, q workqueue.TypedDelayingInterface[string]) {
		q.AddAfter("later", 3*time.Second)
		q.AddAfter("a", 2*time.Second)
		q.AddAfter("a", time.Second)
		q.AddAfter("a", 4*time.Second)
		q.AddAfter("now", 0)
		q.AddAfter("before", -time.Second)
		q.Add("a")
		take(t, q, "now", "before", "a")
		time.Sleep(time.Second)
		take(t, q, "a") // Add does not cancel the pending delay
		q.AddAfter("a", time.Second)
		time.Sleep(2 * time.Second)
		take(t, q, "a", "later")
		time.Sleep(time.Minute)
		take(t, q)
	})
}

func TestShutDownDiscardsDelays(t *testing.T) { // WQ-26
	eachDelaying(t, func(t *testing.T, q workqueue.TypedDelayingInterface[string]) {
		q.AddAfter("a", time.Second)
		q.ShutDownWithDrain()
		q.AddAfter("b", time.Second)
		q.AddAfter("c", 0)
		time.Sleep(time.Minute)
		take(t, q)
		_, shutdown := q.Get()
		require.True(t, shutdown)
	})
}

// A delaying queue may wrap a queue of the program. If Add of that queue calls AddAfter, the call
// starts a new delay.
func TestAProgramsQueueMayCallAddAfterInAdd(t *testing.T) { // WQ-21
	synctest.Test(t, func(t *testing.T) {
		own := &readdingQueue{TypedInterface: workqueue.NewTyped[string]()}
		q := workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[string]{Queue: own})
		own.delayed = q
		q.AddAfter("a", time.Second)
		time.Sleep(time.Second)
		take(t, q, "a")
		time.Sleep(time.Second)
		take(t, q, "a")
		q.ShutDown()
	})
}

type readdingQueue struct {
	workqueue.TypedInterface[string]
	delayed workqueue.TypedDelayingInterface[string]
}

func (e *readdingQueue) Add(item string) {
	e.TypedInterface.Add(item)
	e.delayed.AddAfter(item, time.Second)
}

// Tests of programs use a fake clock in this way: the clock stands still until the test moves it.
func TestAFakeClockAdvancesDelays(t *testing.T) { // WQ-20, WQ-21
	synctest.Test(t, func(t *testing.T) {
		clock := testclock.NewFakeClock(time.Now())
		q := workqueue.NewDelayingQueueWithCustomClock(clock, "")
		defer q.ShutDown()
		q.AddAfter("b", 100*time.Millisecond)
		q.AddAfter("a", 50*time.Millisecond)
		synctest.Wait()
		require.True(t, clock.HasWaiters())
		time.Sleep(time.Hour)
		synctest.Wait()
		require.Zero(t, q.Len())
		clock.Step(60 * time.Millisecond)
		synctest.Wait()
		require.Equal(t, 1, q.Len())
		clock.Step(60 * time.Millisecond)
		synctest.Wait()
		first, _ := q.Get()
		second, _ := q.Get()
		require.Equal(t, []any{"a", "b"}, []any{first, second})
	})
}

// The clock may move before the queue's goroutine has seen the item. So the test does not wait for
// the goroutine.
func TestAFakeClockIsNotMissed(t *testing.T) {
	for range 100 {
		clock := testclock.NewFakeClock(time.Now())
		q := workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[int]{Clock: clock})
		q.AddAfter(1, time.Second)
		clock.Step(time.Second)
		item, _ := q.Get()
		require.Equal(t, 1, item)
		q.ShutDown()
	}
}

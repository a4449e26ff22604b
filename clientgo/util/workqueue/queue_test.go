package workqueue_test

import (
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
)

// otherClock is the real clock with another type, so that a queue uses customQueue and clockDelays.
type otherClock struct{ clock.RealClock }

// implementations has each implementation behind Typed. The conformance suite runs on all of them
// in clientgo/proof.
var implementations = map[string]func() *workqueue.Typed[string]{
	"kept by kinform": workqueue.NewTyped[string],
	"kept in sets": func() *workqueue.Typed[string] {
		return workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[string]{Queue: workqueue.DefaultQueue[string]()})
	},
	"of another clock": func() *workqueue.Typed[string] {
		return workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[string]{Clock: otherClock{}})
	},
}

func forEachImplementation(t *testing.T, test func(t *testing.T, q *workqueue.Typed[string])) {
	t.Helper()
	for name, open := range implementations {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, open()) })
		})
	}
}

// runAsync runs f in a goroutine and returns a channel that is closed when f has returned.
func runAsync(f func()) <-chan struct{} {
	over := make(chan struct{})
	go func() { defer close(over); f() }()
	synctest.Wait()
	return over
}

func isClosed(c <-chan struct{}) bool {
	synctest.Wait()
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func TestShutDownEndsADrain(t *testing.T) { // WQ-12
	forEachImplementation(t, func(t *testing.T, q *workqueue.Typed[string]) {
		q.Add("a")
		q.Get()
		first, second := runAsync(q.ShutDownWithDrain), runAsync(q.ShutDownWithDrain)
		require.False(t, isClosed(first) || isClosed(second))
		require.True(t, q.ShuttingDown())
		q.ShutDown()
		require.True(t, isClosed(first) && isClosed(second), "ShutDown ends both drains")
		third := runAsync(q.ShutDownWithDrain)
		require.False(t, isClosed(third), "ShutDown does not end a drain that begins later")
		q.Done("a")
		require.True(t, isClosed(third))
	})
}

func TestADrainWaitsForItemsThatAreAddedAgain(t *testing.T) { // WQ-13, WQ-14
	forEachImplementation(t, func(t *testing.T, q *workqueue.Typed[string]) {
		q.Add("a")
		q.Get()
		q.Add("a")
		drain := runAsync(q.ShutDownWithDrain)
		q.Done("a")
		require.False(t, isClosed(drain))
		time.Sleep(time.Second / 2)
		item, shutdown := q.Get()
		require.Equal(t, "a", item)
		require.False(t, shutdown)
		time.Sleep(time.Hour) // a drain waits however long a worker takes
		require.False(t, isClosed(drain))
		q.Done("a")
		require.True(t, isClosed(drain))
		_, shutdown = q.Get()
		require.True(t, shutdown)
	})
}

// A program may drain after all workers have ended with their context, while items are queued. In
// this case client-go's drain returns.
func TestADrainWithoutWorkersReturns(t *testing.T) { // WQ-17
	forEachImplementation(t, func(t *testing.T, q *workqueue.Typed[string]) {
		q.Add("a")
		drain := runAsync(q.ShutDownWithDrain)
		require.False(t, isClosed(drain), "the drain waits first, because a worker may be about to call Get")
		time.Sleep(2 * time.Second)
		require.True(t, isClosed(drain))
		require.Equal(t, 1, q.Len())
	})
}

func TestDoneItemsAreReleased(t *testing.T) { // WQ-7
	for name, config := range map[string]workqueue.TypedQueueConfig[*[1 << 20]byte]{
		"kept by kinform": {},
		"kept in sets":    {Queue: workqueue.DefaultQueue[*[1 << 20]byte]()},
	} {
		t.Run(name, func(t *testing.T) {
			q := workqueue.NewTypedWithConfig(config)
			collected := make(chan struct{})
			func() {
				item := new([1 << 20]byte)
				runtime.AddCleanup(item, func(c chan struct{}) { close(c) }, collected)
				q.Add(item)
				item, _ = q.Get()
				q.Done(item)
			}()
			require.Eventually(t, func() bool {
				runtime.GC()
				select {
				case <-collected:
					return true
				default:
					return false
				}
			}, time.Minute, time.Millisecond)
			runtime.KeepAlive(q)
		})
	}
}

// priorityQueue is a program's own Queue: the longest item comes first, except that Touch moves an
// item to the front.
type priorityQueue struct {
	items   []string
	touched []string
}

func (p *priorityQueue) Touch(item string) { p.touched = append(p.touched, item) }
func (p *priorityQueue) Push(item string)  { p.items = append(p.items, item) }
func (p *priorityQueue) Len() int          { return len(p.items) }
func (p *priorityQueue) Pop() string {
	best := 0
	for i, item := range p.items {
		if len(item) > len(p.items[best]) {
			best = i
		}
	}
	item := p.items[best]
	p.items = append(p.items[:best], p.items[best+1:]...)
	return item
}

func TestAProgramsQueueDeterminesTheOrder(t *testing.T) { // WQ-8
	order := &priorityQueue{}
	q := workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[string]{Queue: order})
	for _, item := range []string{"a", "ccc", "bb", "a"} {
		q.Add(item)
	}
	require.Equal(t, []string{"a"}, order.touched)
	require.Equal(t, 3, q.Len())
	item, _ := q.Get()
	require.Equal(t, "ccc", item)
	q.Add("ccc")
	q.Add("ccc")
	require.Equal(t, []string{"a"}, order.touched, "Touch is not called for an item that a worker has")
	require.Equal(t, 2, q.Len())
	q.Done("ccc")
	item, _ = q.Get()
	require.Equal(t, "ccc", item)
	q.ShutDown()
}

func TestDefaultQueueIsFIFO(t *testing.T) {
	q := workqueue.DefaultQueue[int]()
	next := 0
	for i := range 5000 {
		q.Push(i)
		if i%3 == 0 {
			require.Equal(t, next, q.Pop())
			next++
		}
	}
	for q.Len() > 0 {
		require.Equal(t, next, q.Pop())
		next++
	}
	require.Equal(t, 5000, next)
}

// Older programs have items of any type.
func TestUntypedNamesStillWork(t *testing.T) {
	var q workqueue.Interface = workqueue.New()
	q.Add(struct{ a, b string }{"a", "b"})
	q.Add(1)
	item, shutdown := q.Get()
	require.Equal(t, struct{ a, b string }{"a", "b"}, item)
	require.False(t, shutdown)
	require.Panics(t, func() { q.Add([]string{}) }, "an item must be usable as a map key")
	q.ShutDown()
	require.Equal(t, 1, q.Len())

	limited := workqueue.NewRateLimitingQueueWithDelayingInterface(
		workqueue.NewDelayingQueueWithCustomQueue(workqueue.NewNamed("n"), "n"),
		workqueue.NewItemFastSlowRateLimiter(0, time.Hour, 1))
	limited.AddRateLimited("a")
	require.Equal(t, 1, limited.Len())
	require.Equal(t, 1, limited.NumRequeues("a"))
	limited.AddRateLimited("b")
	limited.Forget("a")
	require.Zero(t, limited.NumRequeues("a"))
	limited.ShutDown()
	require.True(t, limited.ShuttingDown())
}

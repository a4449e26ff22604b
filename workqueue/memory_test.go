package workqueue_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/workqueue"
)

// A queue in steady state allocates nothing, in any operation.
func TestAQueueInSteadyStateAllocatesNothing(t *testing.T) {
	type options = workqueue.Options[types.NamespacedName]
	type queue = *workqueue.Queue[types.NamespacedName]
	const some = 50
	all := keys(some)
	for i := range all {
		all[i].Namespace = strings.Repeat("n", 1+i%7)
	}
	process := func(q queue, n int) {
		for range n {
			key, _ := q.TryGet()
			q.Done(key)
		}
	}
	namespace := func(key types.NamespacedName) string { return key.Namespace }
	for name, test := range map[string]struct {
		opts   options
		stride func(q queue)
	}{
		"priorities and causes": {stride: func(q queue) {
			for i, key := range all {
				q.AddWith(key, workqueue.AddOptions{Priority: i % 8, Cause: []string{"a", "b"}[i%2]})
			}
			process(q, some)
		}},
		"merged adds, raised priorities, joined causes": {stride: func(q queue) {
			for i := range 3 * some {
				q.AddWith(all[i%some], workqueue.AddOptions{Priority: i / some, Cause: []string{"a", "b", "c"}[i%3]})
			}
			process(q, some)
		}},
		"added again while processed": {stride: func(q queue) {
			for _, key := range all {
				q.Add(key)
				taken, _ := q.TryGet()
				q.Add(key)
				q.Done(taken)
			}
			process(q, some)
		}},
		"groups": {options{Group: namespace}, func(q queue) {
			for _, key := range all {
				q.Add(key)
			}
			process(q, some)
		}},
		"groups with weights, one key each": {options{Group: namespace, Weight: func(string) int { return 2 }}, func(q queue) {
			for _, key := range all {
				q.Add(key)
				process(q, 1)
			}
		}},
		"cancelled": {stride: func(q queue) {
			for _, key := range all {
				q.Add(key)
				q.AddAfter(key, time.Hour)
				q.Cancel(key)
			}
		}},
		"delayed": {stride: func(q queue) {
			for i, key := range all {
				q.AddAfter(key, time.Duration(i))
			}
			time.Sleep(some)
			synctest.Wait()
			process(q, some)
		}},
		"delayed earlier and later": {stride: func(q queue) {
			for i := range 3 * some {
				q.AddWith(all[i%some], workqueue.AddOptions{After: time.Duration(3*some - i), Delay: workqueue.DelayMode(i % 3)})
			}
			time.Sleep(3 * some)
			synctest.Wait()
			process(q, some)
		}},
		"an interval": {options{MinInterval: time.Second}, func(q queue) {
			for range 2 {
				for _, key := range all {
					q.Add(key)
				}
				process(q, some)
				for _, key := range all {
					q.Add(key)
				}
				time.Sleep(time.Second)
				synctest.Wait()
			}
			process(q, some)
			time.Sleep(time.Second)
		}},
		"retries": {options{RateLimiter: workqueue.Exponential[types.NamespacedName](1, 1)}, func(q queue) {
			for _, key := range all {
				q.Retry(key)
			}
			time.Sleep(time.Nanosecond)
			synctest.Wait()
			process(q, some)
		}},
		"an observer": {options{Observer: &workqueue.Observer[types.NamespacedName]{
			OnAdd: func(types.NamespacedName) {},
			OnGet: func(workqueue.Item[types.NamespacedName]) {},
		}}, func(q queue) {
			for _, key := range all {
				q.Add(key)
				item, _ := q.GetItem(t.Context())
				q.Done(item.Key)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := workqueue.New(test.opts)
				for range 5 {
					test.stride(q)
				}
				require.Zero(t, testing.AllocsPerRun(20, func() { test.stride(q) }))
				require.NoError(t, q.Drain(t.Context()))
			})
		})
	}
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

func TestMemoryOfManyPrioritiesIsGivenBack(t *testing.T) {
	t.Parallel()
	q := workqueue.New(workqueue.Options[int]{Ageing: -1})
	for _, priority := range rand.Perm(1000) {
		q.AddWith(priority, workqueue.AddOptions{Priority: priority})
	}
	require.NoError(t, q.Verify())
	for want := 999; want >= 0; want-- {
		require.Equal(t, want, get(t, q))
		q.Done(want)
	}
	require.LessOrEqual(t, q.LevelsKept(), 8)
}

func TestGroupsThatHaveNoKeysAreForgotten(t *testing.T) {
	t.Parallel()
	q := byNamespace(nil)
	for i := range 10_000 {
		q.Add(fmt.Sprintf("%d/x", i))
	}
	require.Len(t, takeAll(t, q), 10_000)
	require.Zero(t, q.GroupsKept())
	require.NoError(t, q.Verify())
}

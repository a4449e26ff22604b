package workqueue_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

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

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

package workqueue_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/workqueue"
)

// A key is queued once, however often it is added. A key that is added while a worker has it
// becomes ready again after Done.
func Example() {
	ctx := context.Background()
	q := workqueue.New(workqueue.Options[string]{Name: "pods"})

	q.Add("web-1")
	q.Add("web-2")
	q.Add("web-1")
	fmt.Println("ready:", q.Len())

	first, _ := q.Get(ctx)
	q.Add(first)
	fmt.Println("working on", first, "- ready:", q.Len())
	q.Done(first)

	q.ShutDown()
	for {
		key, err := q.Get(ctx)
		if errors.Is(err, workqueue.ErrShutDown) {
			break
		}
		fmt.Println("working on", key)
		q.Done(key)
	}
	// Output:
	// ready: 2
	// working on web-1 - ready: 1
	// working on web-2
	// working on web-1
}

// A controller's main loop: two workers, and retries with backoff. When ctx ends,
// so does the context of every reconcile.
func ExampleQueue_Run() {
	q := workqueue.New(workqueue.Options[types.NamespacedName]{Name: "deployments"})
	ctx, cancel := context.WithCancel(context.Background())
	attempts := 0

	q.Add(types.NamespacedName{Namespace: "default", Name: "web"})
	err := q.Run(ctx, 2, func(_ context.Context, key types.NamespacedName) error {
		attempts++
		if attempts < 3 {
			return errors.New("conflict") // retried, rate-limited
		}
		fmt.Println(key, "is as it should be, at attempt", attempts)
		cancel()
		return nil
	})
	fmt.Println("ended:", err)
	// Output:
	// default/web is as it should be, at attempt 3
	// ended: <nil>
}

// A process that is asked to stop finishes the queued keys, within 10 s. If lead ends meanwhile,
// because another process leads now, the remaining keys are not finished.
func ExampleQueue_RunUntil() {
	q := workqueue.New(workqueue.Options[string]{Name: "deployments", DrainTimeout: 10 * time.Second})
	lead := context.Background() // ends when the lease is lost
	// ends at SIGTERM: see os/signal.NotifyContext
	stop, terminate := context.WithCancel(context.Background())

	for _, name := range []string{"web-1", "web-2", "web-3"} {
		q.Add(name)
	}
	err := q.RunUntil(lead, stop, 1, func(ctx context.Context, key string) error {
		terminate() // while keys are queued
		fmt.Println(key, "is done, ctx says", ctx.Err())
		return nil
	})
	fmt.Println("ended:", err)
	// Output:
	// web-1 is done, ctx says <nil>
	// web-2 is done, ctx says <nil>
	// web-3 is done, ctx says <nil>
	// ended: <nil>
}

// A worker reads why it has a key. Of several priorities, the highest counts.
func ExampleQueue_AddWith() {
	q := workqueue.New(workqueue.Options[string]{})
	q.AddWith("web-1", workqueue.AddOptions{Priority: workqueue.LowPriority, Cause: "initial list"})
	q.AddWith("web-2", workqueue.AddOptions{Priority: workqueue.LowPriority, Cause: "initial list"})
	q.AddWith("web-2", workqueue.AddOptions{Cause: "secret changed"})

	for q.Len() > 0 {
		item, _ := q.GetItem(context.Background())
		fmt.Printf("%s at %d: %d adds, from %q to %q\n",
			item.Key, item.Priority, item.Causes.Count, item.Causes.First, item.Causes.Last)
		q.Done(item.Key)
	}
	// Output:
	// web-2 at 0: 2 adds, from "initial list" to "secret changed"
	// web-1 at -100: 1 adds, from "initial list" to "initial list"
}

// Namespaces take turns: a namespace that adds many keys does not delay the others.
func ExampleOptions_group() {
	q := workqueue.New(workqueue.Options[types.NamespacedName]{
		Group: func(key types.NamespacedName) string { return key.Namespace },
	})
	for _, name := range []string{"1", "2", "3"} {
		q.Add(types.NamespacedName{Namespace: "loud", Name: name})
	}
	q.Add(types.NamespacedName{Namespace: "quiet", Name: "1"})

	for q.Len() > 0 {
		key, _ := q.Get(context.Background())
		fmt.Println(key)
		q.Done(key)
	}
	// Output:
	// loud/1
	// quiet/1
	// loud/2
	// loud/3
}

// A key that is added all the time runs at once, and then once in each interval. All adds within an
// interval are merged.
func ExampleOptions_minInterval() {
	q := workqueue.New(workqueue.Options[string]{MinInterval: time.Millisecond})
	for range 2 {
		for range 100 {
			q.Add("noisy")
		}
		item, _ := q.GetItem(context.Background()) // the second call waits
		fmt.Println(item.Key, "was added", item.Causes.Count, "times")
		q.Done(item.Key)
	}
	q.ShutDown()
	// Output:
	// noisy was added 100 times
	// noisy was added 100 times
}

// A worker that has written an object parks its key until the store has the write. So the next run
// of the key does not see an older state.
func ExampleQueue_Park() {
	q := workqueue.New(workqueue.Options[string]{})
	seen := make(chan struct{}) // a store has a function such as WaitRV instead
	q.Park("web-1", func(ctx context.Context) error {
		select {
		case <-seen:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})

	q.Add("web-1") // another event adds the key
	fmt.Println("ready while the store is behind:", q.Len())
	close(seen)
	key, _ := q.Get(context.Background())
	fmt.Println("ready when it has caught up:", key)
	q.Done(key)
	q.ShutDown()
	// Output:
	// ready while the store is behind: 0
	// ready when it has caught up: web-1
}

// The number of workers can change with the load.
func ExampleQueue_SetWorkers() {
	q := workqueue.New(workqueue.Options[string]{})
	q.Add("web-1")
	q.Add("web-2")
	var both sync.WaitGroup
	both.Add(2)
	err := q.Run(context.Background(), 1, func(_ context.Context, key string) error {
		if key == "web-1" {
			if err := q.SetWorkers(2); err != nil {
				return err
			}
		}
		both.Done()
		both.Wait() // one worker alone would wait for ever
		q.ShutDown()
		return nil
	})
	fmt.Println("two at work at once:", err == nil)
	// Output: two at work at once: true
}

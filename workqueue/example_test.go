package workqueue_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/workqueue"
)

// A key is queued once, however often it is added; one that is added while a
// worker has it comes back after Done.
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

// A controller's main loop: two workers, retries with backoff, and an orderly
// end.
func ExampleQueue_Run() {
	q := workqueue.New(workqueue.Options[types.NamespacedName]{
		Name:         "deployments",
		DrainTimeout: 10 * time.Second,
	})
	ctx, cancel := context.WithCancel(context.Background())
	attempts := 0

	q.Add(types.NamespacedName{Namespace: "default", Name: "web"})
	err := q.Run(ctx, 2, func(_ context.Context, key types.NamespacedName) error {
		attempts++
		if attempts < 3 {
			return errors.New("conflict") // comes again, rate-limited
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

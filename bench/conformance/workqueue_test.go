package conformance

import (
	"context"
	"testing"

	clientworkqueue "k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"

	"github.com/kinform/kinform/internal/testing/conformance"
	"github.com/kinform/kinform/plain"
	"github.com/kinform/kinform/workqueue"
)

func TestWorkQueueOfKinform(t *testing.T) {
	conformance.TestWorkQueue(t, func() conformance.WorkQueue {
		return &kinformQueue{workqueue.New(workqueue.Options[string]{RateLimiter: workqueue.Exponential[string](conformance.FirstRetry, conformance.LatestRetry)})}
	}, nil)
}

func TestWorkQueueOfClientGo(t *testing.T) {
	conformance.TestWorkQueue(t, func() conformance.WorkQueue {
		return clientworkqueue.NewTypedRateLimitingQueue(clientworkqueue.NewTypedItemExponentialFailureRateLimiter[string](conformance.FirstRetry, conformance.LatestRetry))
	}, differences{
		"a key without a worker is not queued again by Done": "WQ-9, D2: it is, and handed out twice",
		"a drain waits for queued keys":                      "WQ-17, D1: it returns if no worker has a key",
		"a drain releases all who wait for it":               "WQ-15, D3: only one of them",
		"a drain leaves nothing behind":                      "WQ-26, D4: the goroutine for delays, up to ten seconds",
	}.without(
		"a key without a worker is not queued again by Done",
		"a drain waits for queued keys",
		"a drain releases all who wait for it",
		"a drain leaves nothing behind",
	))
}

func TestWorkQueueOfControllerRuntime(t *testing.T) {
	conformance.TestWorkQueue(t, func() conformance.WorkQueue {
		return priorityqueue.New("", func(opts *priorityqueue.Opts[string]) {
			opts.RateLimiter = clientworkqueue.NewTypedItemExponentialFailureRateLimiter[string](conformance.FirstRetry, conformance.LatestRetry)
		})
	}, conformance.Differences{
		"a key that is added while it is processed goes to the end": "WQ-5: it has the place of its Add, as if it had not been processed",
		"keys that workers have are not counted":                    "WQ-6: one that was added meanwhile is",
		"an Add leaves a delay as it is":                            "WQ-23: it takes the place of the delay",
		"a delay leaves a key that is ready as it is":               "WQ-23: there is no delay of such a key",
		"a ShutDown hands out the rest":                             "WQ-10: nothing is handed out any more",
		"a ShutDown hands out what was added while processed":       "WQ-10, WQ-13: nothing is handed out any more",
		"a ShutDown may come twice":                                 "WQ-10: the second panics",
		"a drain waits for processing keys":                         "WQ-12: a drain is a ShutDown",
		"a drain waits for queued keys":                             "WQ-12, D1: a drain is a ShutDown",
		"a drain releases all who wait for it":                      "WQ-12, D3: the second panics, as a drain is a ShutDown",
	})
}

func TestWorkQueueOfPlain(t *testing.T) {
	conformance.TestWorkQueue(t, func() conformance.WorkQueue { return &plainQueue{Queue: plain.NewQueue[string]()} }, conformance.Differences{
		"a drain waits for processing keys":      "WQ-12: there is no drain",
		"a drain waits for queued keys":          "WQ-12, D1: there is no drain",
		"failures are delayed longer and longer": "WQ-30: by five milliseconds at first, with jitter",
	})
}

// plainQueue is package plain's queue with client-go's methods.
type plainQueue struct {
	*plain.Queue[string]
	down bool
}

func (q *plainQueue) Get() (key string, shutDown bool) {
	key, ok := q.Queue.Get()
	return key, !ok
}

func (q *plainQueue) ShutDown() {
	q.down = true
	q.Queue.ShutDown()
}

func (q *plainQueue) ShuttingDown() bool     { return q.down }
func (q *plainQueue) ShutDownWithDrain()     { q.ShutDown() }
func (q *plainQueue) NumRequeues(string) int { return 0 }

// kinformQueue is kinform's queue with client-go's methods.
type kinformQueue struct {
	*workqueue.Queue[string]
}

func (q *kinformQueue) Get() (key string, shutDown bool) {
	key, err := q.Queue.Get(context.Background())
	return key, err != nil
}

func (q *kinformQueue) AddRateLimited(key string) { q.Retry(key) }

func (q *kinformQueue) ShuttingDown() bool { return q.Stats().ShuttingDown }

func (q *kinformQueue) ShutDownWithDrain() { _ = q.Drain(context.Background()) }

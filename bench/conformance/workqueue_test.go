package conformance

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	clientworkqueue "k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"

	"github.com/kinform/kinform/internal/conformance"
	"github.com/kinform/kinform/plain"
	"github.com/kinform/kinform/workqueue"
)

// The work queue, in client-go's words, which controller-runtime's has as well.
type workQueue = clientworkqueue.TypedRateLimitingInterface[string]

const (
	firstRetry  = time.Second
	latestRetry = time.Hour
)

func TestWorkQueueOfKinform(t *testing.T) {
	testWorkQueue(t, func() workQueue {
		return &kinformQueue{workqueue.New(workqueue.Options[string]{RateLimiter: workqueue.Exponential[string](firstRetry, latestRetry)})}
	}, nil)
}

func TestWorkQueueOfClientGo(t *testing.T) {
	testWorkQueue(t, func() workQueue {
		return clientworkqueue.NewTypedRateLimitingQueue(clientworkqueue.NewTypedItemExponentialFailureRateLimiter[string](firstRetry, latestRetry))
	}, conformance.Differences{
		"a key that nobody has is not queued again by Done": "WQ-9, D2: it is, and handed out twice",
		"a drain waits for what is queued":                  "WQ-17, D1: it returns if no worker has a key",
		"a drain releases all who wait for it":              "WQ-15, D3: only one of them",
		"a drain leaves nothing behind":                     "WQ-26, D4: the goroutine for delays, up to ten seconds",
	})
}

func TestWorkQueueOfControllerRuntime(t *testing.T) {
	testWorkQueue(t, func() workQueue {
		return priorityqueue.New("", func(opts *priorityqueue.Opts[string]) {
			opts.RateLimiter = clientworkqueue.NewTypedItemExponentialFailureRateLimiter[string](firstRetry, latestRetry)
		})
	}, conformance.Differences{
		"a key that is added while it is processed goes to the end": "WQ-5: it has the place of its Add, as if it had not been processed",
		"keys that workers have are not counted":                    "WQ-6: one that was added meanwhile is",
		"an Add leaves a delay as it is":                            "WQ-23: it takes the place of the delay",
		"a delay leaves a key that is ready as it is":               "WQ-23: there is no delay of such a key",
		"a ShutDown hands out the rest":                             "WQ-10: nothing is handed out any more",
		"a ShutDown hands out what was added while processed":       "WQ-10, WQ-13: nothing is handed out any more",
		"a ShutDown may come twice":                                 "WQ-10: the second panics",
		"a drain waits for what workers have":                       "WQ-12: a drain is a ShutDown",
		"a drain waits for what is queued":                          "WQ-12, D1: a drain is a ShutDown",
		"a drain releases all who wait for it":                      "WQ-12, D3: the second panics, as a drain is a ShutDown",
	})
}

func TestWorkQueueOfPlain(t *testing.T) {
	testWorkQueue(t, func() workQueue { return &plainQueue{Queue: plain.NewQueue[string]()} }, conformance.Differences{
		"a drain waits for what workers have":    "WQ-12: there is no drain",
		"a drain waits for what is queued":       "WQ-12, D1: there is no drain",
		"failures are delayed longer and longer": "WQ-30: by five milliseconds at first, with jitter",
	})
}

// plainQueue is the textbook's in client-go's words.
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

// kinformQueue is ours in client-go's words.
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

// testWorkQueue runs the cases. What is in differences must fail, everything else
// must not.
func testWorkQueue(t *testing.T, open func() workQueue, differences conformance.Differences) {
	names := map[string]bool{}
	for _, c := range workQueueCases {
		names[c.name] = true
		t.Run(c.name, func(t *testing.T) {
			failure := c.attempt(t, open)
			reason, different := differences[c.name]
			switch {
			case different && failure == "":
				t.Errorf("it holds, although it is said to be a difference: %s", reason)
			case different:
				first, _, _ := strings.Cut(failure, "\n")
				t.Logf("differs (%s): %s", reason, first)
			case failure != "":
				t.Error(failure)
			}
		})
	}
	for _, name := range slices.Sorted(maps.Keys(differences)) {
		if !names[name] {
			t.Errorf("there is no case %q, so it can't be a difference", name)
		}
	}
}

// attempt returns what a queue fails with, or "". Time is that of a bubble.
func (c workQueueCase) attempt(t *testing.T, open func() workQueue) (failure string) {
	synctest.Test(t, func(*testing.T) {
		r := &workQueueRig{workQueue: open()}
		r.try(c.run)
		r.end()
		failure = r.failure
	})
	return failure
}

// Package workqueue_test runs kinform's conformance suite for work queues on the queues of module
// clientgo.
package workqueue_test

import (
	"testing"

	"github.com/kinform/kinform/internal/testing/conformance"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
)

type config = workqueue.TypedRateLimitingQueueConfig[string]

// otherClock is the real clock under another type, so that the queue does not recognize the real
// clock.
type otherClock struct{ clock.RealClock }

func run(t *testing.T, c func() config, differences conformance.Differences) {
	conformance.TestWorkQueue(t, func() conformance.WorkQueue {
		limiter := workqueue.NewTypedItemExponentialFailureRateLimiter[string](conformance.FirstRetry, conformance.LatestRetry)
		return workqueue.NewTypedRateLimitingQueueWithConfig(limiter, c())
	}, differences)
}

func TestQueueOnKinformsQueue(t *testing.T) {
	run(t, func() config { return config{} }, nil)
}

func TestQueueWithAnotherClock(t *testing.T) {
	run(t, func() config { return config{Clock: otherClock{}} }, nil)
}

func TestQueueWithAQueueOfTheProgram(t *testing.T) {
	run(t, func() config {
		return config{DelayingQueue: workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[string]{
			Queue: workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[string]{Queue: workqueue.DefaultQueue[string]()}),
		})}
	}, nil)
}

package main

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
)

// clientGoQueue is a plain queue inside a delaying queue. The methods of the plain queue are called
// directly; only delays use the delaying queue.
type clientGoQueue struct {
	plain    *workqueue.Typed[types.NamespacedName]
	delaying workqueue.TypedDelayingInterface[types.NamespacedName]
}

func openClientGo() queue {
	plain := workqueue.NewTyped[types.NamespacedName]()
	return &clientGoQueue{plain, workqueue.NewTypedDelayingQueueWithConfig(
		workqueue.TypedDelayingQueueConfig[types.NamespacedName]{Queue: plain})}
}

func (q *clientGoQueue) add(key types.NamespacedName) { q.plain.Add(key) }

func (q *clientGoQueue) addAfter(key types.NamespacedName, d time.Duration) {
	q.delaying.AddAfter(key, d)
}

func (q *clientGoQueue) get() (types.NamespacedName, bool) {
	key, shutDown := q.plain.Get()
	return key, !shutDown
}

func (q *clientGoQueue) done(key types.NamespacedName) { q.plain.Done(key) }

func (q *clientGoQueue) flush() {}

func (q *clientGoQueue) shutDown() { q.delaying.ShutDown() }

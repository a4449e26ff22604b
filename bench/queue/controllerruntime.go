package main

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
)

// controllerRuntimeQueue is controller-runtime's priority queue.
type controllerRuntimeQueue struct {
	priorityqueue.PriorityQueue[types.NamespacedName]
}

func openControllerRuntime() queue {
	return &controllerRuntimeQueue{priorityqueue.New[types.NamespacedName]("")}
}

func (q *controllerRuntimeQueue) add(key types.NamespacedName) { q.Add(key) }

func (q *controllerRuntimeQueue) addAfter(key types.NamespacedName, d time.Duration) {
	q.AddAfter(key, d)
}

func (q *controllerRuntimeQueue) addPriority(key types.NamespacedName, level int) {
	q.AddWithOpts(priorityqueue.AddOpts{Priority: &priorities[level]}, key)
}

func (q *controllerRuntimeQueue) get() (types.NamespacedName, bool) {
	key, shutDown := q.Get()
	return key, !shutDown
}

func (q *controllerRuntimeQueue) done(key types.NamespacedName) { q.Done(key) }

// flush makes the queue process its buffer of added keys, as Len does.
func (q *controllerRuntimeQueue) flush() { q.Len() }

func (q *controllerRuntimeQueue) shutDown() { q.ShutDown() }

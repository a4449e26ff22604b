package main

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/workqueue"
)

// kinformQueue is a queue of package workqueue. Its workers have a context that can be cancelled,
// like the workers of Run.
type kinformQueue struct {
	*workqueue.Queue[types.NamespacedName]
	ctx    context.Context
	cancel context.CancelFunc
}

func openKinform() queue {
	ctx, cancel := context.WithCancel(context.Background())
	return &kinformQueue{workqueue.New(workqueue.Options[types.NamespacedName]{}), ctx, cancel}
}

func (q *kinformQueue) add(key types.NamespacedName) { q.Add(key) }

func (q *kinformQueue) addAfter(key types.NamespacedName, d time.Duration) { q.AddAfter(key, d) }

func (q *kinformQueue) get() (types.NamespacedName, bool) {
	key, err := q.Get(q.ctx)
	return key, err == nil
}

func (q *kinformQueue) done(key types.NamespacedName) { q.Done(key) }

func (q *kinformQueue) flush() {}

func (q *kinformQueue) shutDown() {
	q.ShutDown()
	q.cancel()
}

func (q *kinformQueue) addPriority(key types.NamespacedName, level int) {
	q.AddWith(key, workqueue.AddOptions{Priority: priorities[level]})
}

// openGrouped opens a queue that is fair to namespaces.
func openGrouped() queue {
	ctx, cancel := context.WithCancel(context.Background())
	return &kinformQueue{workqueue.New(workqueue.Options[types.NamespacedName]{
		Group: func(key types.NamespacedName) string { return key.Namespace },
	}), ctx, cancel}
}

package main

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// bareQueue is not a queue but a channel. Its time is the cost of the scheduler alone.
type bareQueue struct {
	keys  chan types.NamespacedName
	close func()
}

func openBare() queue {
	keys := make(chan types.NamespacedName, 1<<16)
	return &bareQueue{keys, sync.OnceFunc(func() { close(keys) })}
}

func (q *bareQueue) add(key types.NamespacedName) { q.keys <- key }
func (q *bareQueue) addAfter(types.NamespacedName, time.Duration) {
	panic("queue: a bare queue has no AddAfter")
}
func (q *bareQueue) done(types.NamespacedName) {}
func (q *bareQueue) flush()                    {}
func (q *bareQueue) shutDown()                 { q.close() }
func (q *bareQueue) get() (types.NamespacedName, bool) {
	key, ok := <-q.keys
	return key, ok
}

package main

import (
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// withWorkers runs one producer. It adds a thousand different keys as fast as it can, waits until
// workers have processed all of them, and then adds the next thousand. So all queues are empty and
// full equally often.
func withWorkers(workers int, add func(q queue, key types.NamespacedName)) func(func() queue, time.Duration) cost {
	return func(open func() queue, period time.Duration) cost {
		q := open()
		var left atomic.Int64
		through := make(chan struct{})
		working := inParallel(workers, func(int) {
			for {
				key, ok := q.get()
				if !ok {
					return
				}
				q.done(key)
				if left.Add(-1) == 0 {
					through <- struct{}{}
				}
			}
		})
		defer working.Wait()
		defer q.shutDown()
		next := 0
		return again(period, inFlight, func() {
			left.Store(inFlight)
			for range inFlight {
				add(q, otherKeys[next])
				next = (next + 1) % len(otherKeys)
			}
			<-through
		})
	}
}

// addWithPriority adds a key with a priority that depends only on the key.
func addWithPriority(q queue, key types.NamespacedName) {
	q.(prioritised).addPriority(key, int(key.Name[len(key.Name)-1])%len(priorities))
}

// inParallel calls do in this many goroutines.
func inParallel(goroutines int, do func(n int)) *sync.WaitGroup {
	all := new(sync.WaitGroup)
	for n := range goroutines {
		all.Go(func() { do(n) })
	}
	return all
}

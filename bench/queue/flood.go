package main

import (
	"sync/atomic"
	"time"

	"github.com/kinform/kinform/bench/internal/meter"
)

// floodKeys is the number of keys that the producer of flooded adds repeatedly.
const floodKeys = 10_000

// counter is a count by one goroutine, in a cache line of its own.
type counter struct {
	atomic.Int64
	_ [56]byte
}

// flooded runs one producer that adds keys repeatedly, as fast as the queue accepts them, while
// workers get and finish them. The cost is the average time between two Gets of any workers. It
// includes the producer's adds in that time.
func flooded(workers int) func(func() queue, time.Duration) cost {
	return func(open func() queue, period time.Duration) cost {
		q := open()
		var stop atomic.Bool
		var adds counter
		gets := make([]counter, workers)
		working := inParallel(workers, func(n int) {
			for key, ok := q.get(); ok; key, ok = q.get() {
				gets[n].Add(1)
				q.done(key)
			}
		})
		producing := inParallel(1, func(int) {
			for !stop.Load() {
				for _, key := range otherKeys[:floodKeys] {
					q.add(key)
					adds.Add(1)
				}
			}
		})
		got := func() (all int64) {
			for n := range gets {
				all += gets[n].Load()
			}
			return all
		}
		for got() < floodKeys { // a first round, to warm up
			time.Sleep(time.Millisecond)
		}
		start := meter.Start()
		addsBefore, getsBefore := adds.Load(), got()
		time.Sleep(period)
		added, handedOut := adds.Load()-addsBefore, max(1, got()-getsBefore)
		c := cost{start.Per(int(handedOut)), float64(handedOut) / float64(max(1, added))}
		stop.Store(true)
		producing.Wait()
		q.shutDown()
		working.Wait()
		return c
	}
}

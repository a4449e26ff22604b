package main

import (
	"math/rand/v2"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// never is a delay that is longer than any measurement.
const never = 100 * time.Hour

// random returns a source of random numbers that is the same in every run.
func random() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

// farTimes returns the due times of the pending keys: unordered, all different, and all after the
// end of the measurement.
func farTimes() []time.Duration {
	r := random()
	times := make([]time.Duration, pending)
	for n := range times {
		times[n] = never + time.Duration(r.Int64N(int64(never)))
	}
	return times
}

// sentinel is a key whose name no other key has.
var sentinel = types.NamespacedName{Namespace: "mark", Name: "mark"}

// waitUntilProcessed waits until the queue has processed all delayed keys. No key may be ready.
func waitUntilProcessed(q queue) {
	q.addAfter(sentinel, 1)
	key, _ := q.get()
	if key != sentinel {
		panic("queue: a key is ready too early: " + key.String())
	}
	q.done(key)
}

// openDelaying opens a queue in which the first keys are pending.
func openDelaying(open func() queue, times []time.Duration) queue {
	q := open()
	for n, d := range times {
		q.addAfter(keys[n], d)
		if n%inFlight == inFlight-1 {
			waitUntilProcessed(q)
		}
	}
	return q
}

// fill adds all pending keys to an empty queue. The time includes the allocation of the queue's
// memory for them.
func fill(open func() queue, period time.Duration) cost {
	times := farTimes()
	return again(period, pending, func() { openDelaying(open, times).shutDown() })
}

// moveEarlier moves pending keys, in random order, to an earlier time. The new delay is between
// half of the old one and all of it.
func moveEarlier(open func() queue, period time.Duration) cost {
	times, r := farTimes(), random()
	order, shares := r.Perm(pending), make([]float64, 4096)
	for n := range shares {
		shares[n] = 0.5 + r.Float64()/2
	}
	q := openDelaying(open, times)
	defer q.shutDown()
	next := 0
	return again(period, inFlight, func() {
		for range inFlight {
			n := order[next%pending]
			times[n] = time.Duration(float64(times[n]) * shares[next%len(shares)])
			q.addAfter(keys[n], times[n])
			next++
		}
		waitUntilProcessed(q)
	})
}

// retry delays a thousand keys by one to two milliseconds, and processes each key when it is due,
// while the other keys are pending.
func retry(open func() queue, period time.Duration) cost {
	q, r := openDelaying(open, farTimes()), random()
	defer q.shutDown()
	delays := make([]time.Duration, len(otherKeys))
	for n := range delays {
		delays[n] = time.Millisecond + time.Duration(r.Int64N(int64(time.Millisecond)))
	}
	next := 0
	return again(period, inFlight, func() {
		for range inFlight {
			q.addAfter(otherKeys[next], delays[next])
			next = (next + 1) % len(otherKeys)
		}
		for range inFlight {
			key, _ := q.get()
			q.done(key)
		}
	})
}

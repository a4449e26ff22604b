package main

import (
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/kinform/kinform/bench/internal/meter"
)

// row is one measurement.
type row struct {
	name    string
	against int     // the side that kinform is compared with
	target  float64 // target ratio of kinform to that side
	lean    bool    // kinform must not allocate
	waits   bool    // goroutines wait for each other, so wall time counts
	floods  bool    // the producer never waits
	// run measures queues that open makes. It shuts them down, and waits for the goroutines that it
	// has started.
	run func(open func() queue, period time.Duration) cost
}

// cost is the cost of an operation.
type cost struct {
	meter.Cost
	// getsPerAdd is measured if the producer does not wait. Otherwise it is 0, because each added
	// key is handed out.
	getsPerAdd float64
}

var rows = []row{
	{name: "Add, Get, Done, one goroutine", target: 0.6, lean: true, run: cycle},
	{name: "one producer, 2 workers", target: 0.6, waits: true, run: withWorkers(2, queue.add)},
	{name: "one producer, 8 workers", target: 0.6, waits: true, run: withWorkers(8, queue.add)},
	{name: "one producer, 32 workers", target: 0.6, waits: true, run: withWorkers(32, queue.add)},
	{name: "a producer that does not wait, 2 workers", target: 0.7, waits: true, floods: true, run: flooded(2)},
	{name: "a producer that does not wait, 8 workers", target: 0.7, waits: true, floods: true, run: flooded(8)},
	{name: "a producer that does not wait, 32 workers", target: 0.7, waits: true, floods: true, run: flooded(32)},
	{name: "Add of keys that are queued, parallel", target: 0.9, waits: true, run: merged},
	{name: "AddAfter of 100,000 new keys", target: 0.6, run: fill},
	{name: "AddAfter, 100,000 pending, to an earlier time", target: 0.6, lean: true, run: moveEarlier},
	{name: "AddAfter, 100,000 pending, until due and done", target: 0.6, lean: true, run: retry},
	{name: "Add with priority, Get, Done, one goroutine", against: controllerRuntime, target: 0.33, lean: true, run: cycleWithPriorities},
	{name: "with priorities, one producer, 8 workers", against: controllerRuntime, target: 0.33, waits: true, run: withWorkers(8, addWithPriority)},
}

// selected returns the rows whose names contain one of these words.
func selected(words string) (all []row) {
	for _, r := range rows {
		if matches(r.name, words) {
			all = append(all, r)
		}
	}
	return all
}

// matches reports whether a name contains one of the comma-separated words.
func matches(name, words string) bool {
	return slices.ContainsFunc(strings.Split(words, ","), func(word string) bool { return strings.Contains(name, word) })
}

// supports reports whether a row can be measured on a side.
func (r row) supports(s int) bool {
	if r.floods && s == controllerRuntime {
		// controller-runtime's adds go into an unbounded buffer, which is emptied more slowly than
		// keys arrive. The buffer grows, and with it the time until the next Get.
		return false
	}
	if r.against == clientGo {
		return true
	}
	q := sides[s].open()
	defer q.shutDown()
	_, ok := q.(prioritised)
	return ok
}

// again repeats a function that does this many operations, after one call to warm up.
func again(period time.Duration, operations int, do func()) cost {
	do()
	start, times := meter.Start(), 0
	for start.Elapsed() < period {
		do()
		times++
	}
	return cost{Cost: start.Per(times * operations)}
}

// cycle processes keys one by one, in an otherwise empty queue.
func cycle(open func() queue, period time.Duration) cost {
	q := open()
	defer q.shutDown()
	return again(period, len(otherKeys), func() {
		for _, key := range otherKeys {
			q.add(key)
			got, _ := q.get()
			q.done(got)
		}
	})
}

// cycleWithPriorities adds a key and processes one, while a thousand keys wait.
func cycleWithPriorities(open func() queue, period time.Duration) cost {
	q := open().(prioritised)
	defer q.shutDown()
	for n, key := range otherKeys[:inFlight] {
		q.addPriority(key, n%len(priorities))
	}
	q.flush()
	next := inFlight
	const operations = 1000
	return again(period, operations, func() {
		for range operations {
			q.addPriority(otherKeys[next%len(otherKeys)], next%len(priorities))
			got, _ := q.get()
			q.done(got)
			next++
		}
	})
}

// merged adds keys that are queued already, in as many goroutines as there are processors.
func merged(open func() queue, period time.Duration) cost {
	q := open()
	defer q.shutDown()
	queued := otherKeys[:inFlight]
	for _, key := range queued {
		q.add(key)
	}
	q.flush()
	goroutines := runtime.GOMAXPROCS(0)
	return again(period, goroutines*100*len(queued), func() {
		inParallel(goroutines, func(int) {
			for range 100 {
				for _, key := range queued {
					q.add(key)
				}
			}
		}).Wait()
		q.flush()
	})
}

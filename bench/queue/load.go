package main

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/bench/internal/meter"
)

// load is adds at random moments, so many a second, which do not wait for anything.
type load struct {
	adds    int           // how many
	rate    float64       // how many a second
	work    time.Duration // how long a worker takes for a key
	workers int
	zipf    bool // whether keys differ in how often they are added
}

// distinct is how many keys there are.
const distinct = 10_000

// arrival is an add: which key, and when it is due, after the start.
type arrival struct {
	key int
	due time.Duration
}

// arrivals are those of a Poisson process, the same in every run.
func (l load) arrivals() []arrival {
	r := random()
	which := func() int { return r.IntN(distinct) }
	if l.zipf {
		z := rand.NewZipf(r, 1.1, 1, distinct-1)
		which = func() int { return int(z.Uint64()) }
	}
	all := make([]arrival, l.adds)
	var due float64 // seconds
	for n := range all {
		due += r.ExpFloat64() / l.rate
		all[n] = arrival{which(), time.Duration(due * float64(time.Second))}
	}
	return all
}

// waits is how long keys were due, until a worker was given them.
type waits struct {
	all     []time.Duration // sorted
	untimed int             // how many were handed out when it was not known since when they were due
	delayed time.Duration   // for how long the process had no processor
}

// run lets a queue have the load.
//
// The time of a key begins when its add is due by the plan, and not when it is made:
// where the queue, the workers or the scheduler hold the producer up, that counts for
// every add that is late because of it (no coordinated omission). The producer never
// waits for the queue; where it is late, it adds what is due without a pause. Between
// adds it gives its processor to others, rather than to keep one from them.
//
// Of adds that the queue merges, the time of the first counts. An add between the
// moment in which a worker is given the key and that in which the worker has noted it
// cannot be told from one that was merged, so the run that it causes is untimed.
func (l load) run(open func() queue) (waits, error) {
	q := open()
	arrivals := l.arrivals()
	since := make([]atomic.Int64, distinct) // when the key was due, in nanoseconds after the start, plus one; 0 if it is not
	of := make([]waits, l.workers)
	for n := range of {
		of[n].all = make([]time.Duration, 0, 2*l.adds/l.workers)
	}
	runtime.GC()
	delayed := meter.Delayed()
	start := time.Now()
	working := inParallel(l.workers, func(n int) {
		for {
			key, ok := q.get()
			if !ok {
				return
			}
			got := time.Since(start)
			if due := since[number(key)].Swap(0); due > 0 {
				of[n].all = append(of[n].all, got-time.Duration(due-1))
			} else {
				of[n].untimed++
			}
			for time.Since(start) < got+l.work {
			}
			q.done(key)
		}
	})
	for _, a := range arrivals {
		for time.Since(start) < a.due {
			runtime.Gosched()
		}
		since[a.key].CompareAndSwap(0, int64(a.due)+1)
		q.add(keys[a.key])
	}
	err := allTaken(since)
	w := waits{delayed: meter.Delayed() - delayed}
	q.shutDown()
	working.Wait()
	for _, o := range of {
		w.all = append(w.all, o.all...)
		w.untimed += o.untimed
	}
	slices.Sort(w.all)
	return w, err
}

// number is that of a key, by the end of its name.
func number(key types.NamespacedName) (n int) {
	for _, digit := range key.Name[len(key.Name)-5:] {
		n = 10*n + int(digit-'0')
	}
	return n
}

// allTaken waits until no key is due.
func allTaken(since []atomic.Int64) error {
	begin := time.Now()
	for n := range since {
		for since[n].Load() != 0 {
			if time.Since(begin) > time.Minute {
				return fmt.Errorf("key %d is not handed out", n)
			}
			time.Sleep(time.Millisecond)
		}
	}
	return nil
}

// loads are those that are measured.
func loads(adds int, rate float64, work time.Duration) (all []load) {
	for _, zipf := range []bool{false, true} {
		for _, workers := range []int{1, 4, 16, 64} {
			all = append(all, load{adds, rate, work, workers, zipf})
		}
	}
	return all
}

func (l load) String() string {
	kind := "uniform"
	if l.zipf {
		kind = "zipf"
	}
	if l.workers == 1 {
		return kind + ", 1 worker"
	}
	return kind + ", " + strconv.Itoa(l.workers) + " workers"
}

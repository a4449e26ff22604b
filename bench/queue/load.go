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

// load is a sequence of adds at random times with a given rate. The times do not depend on the
// queue.
type load struct {
	adds    int           // number of adds
	rate    float64       // adds per second
	work    time.Duration // time that a worker takes for a key
	workers int
	zipf    bool // keys differ in how often they are added
}

// distinct is the number of different keys.
const distinct = 10_000

// arrival is an add of a key. due is its time, counted from the start.
type arrival struct {
	key int
	due time.Duration
}

// arrivals returns the arrivals of a Poisson process, the same in every run.
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

// waits has the time from each key's due time until a worker got the key.
type waits struct {
	all        []time.Duration // sorted
	unknownDue int             // number of handed-out keys whose due time was unknown
	cpuDelay   time.Duration   // how long the process waited for a processor
}

// run runs the load on a queue. The wait of a key begins when its add is due by the plan, not when
// the producer makes the add. So if the queue, the workers or the scheduler delay the producer,
// every late add counts as waiting (no coordinated omission). The producer never waits for the
// queue: when it is late, it makes all due adds without a pause. Between adds it yields its
// processor.
//
// If the queue merges adds, the due time of the first one counts. An add between a worker's Get and
// the worker's record of it looks like a merged add. So the due time of the next Get is unknown.
func (l load) run(open func() queue) (waits, error) {
	q := open()
	arrivals := l.arrivals()
	// since has the time at which each key became due, in nanoseconds after the start, plus one; 0
	// if the key is not due.
	since := make([]atomic.Int64, distinct)
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
				of[n].unknownDue++
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
	w := waits{cpuDelay: meter.Delayed() - delayed}
	q.shutDown()
	working.Wait()
	for _, o := range of {
		w.all = append(w.all, o.all...)
		w.unknownDue += o.unknownDue
	}
	slices.Sort(w.all)
	return w, err
}

// number returns the number at the end of a key's name.
func number(key types.NamespacedName) (n int) {
	for _, digit := range key.Name[len(key.Name)-5:] {
		n = 10*n + int(digit-'0')
	}
	return n
}

// allTaken waits until workers have got every due key.
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

// loads returns the measured loads.
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

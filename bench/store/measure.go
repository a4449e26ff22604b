package main

import (
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// figure is the cost of one operation.
type figure struct {
	nanoseconds, bytes, allocations float64
}

// stride is a prime number. Objects are accessed at this distance, in another order than they were
// allocated, so that the processor's caches have few of them.
const stride = 7919

// row is one measurement. Each run gets a side and a duration.
type row struct {
	name   string
	target float64 // ratio of kinform to client-go; for rates, of client-go to kinform
	limit  float64 // maximum of allocations; negative for no limit
	bytes  bool    // zero bytes are required
	run    func(s side, objects int, period time.Duration) figure
}

var rows = []row{
	{"Get in turn, parallel", 0.7, 0, true, func(s side, objects int, period time.Duration) figure {
		return cpuOf(parallel(period, runtime.GOMAXPROCS(0), func(n int) { s.get(n % objects) }))
	}},
	{"Get at random, parallel", 0.7, 0, true, func(s side, objects int, period time.Duration) figure {
		return cpuOf(parallel(period, runtime.GOMAXPROCS(0), func(n int) { s.get(n * stride % objects) }))
	}},
	{"Get while one goroutine writes", 0.4, -1, false, func(s side, objects int, period time.Duration) figure {
		defer whileRunning(func(n int) { s.update(n%objects, false) })()
		return wallOf(parallel(period, runtime.GOMAXPROCS(0), func(n int) { s.get(n % objects) }))
	}},
	{"write while one goroutine lists everything", 1. / 50, -1, false, func(s side, objects int, period time.Duration) figure {
		defer whileRunning(func(int) { s.all() })()
		return wallOf(parallel(period, 1, func(n int) { s.update(n%objects, false) }))
	}},
	{"update, index values as before", 0.7, 2, false, func(s side, objects int, period time.Duration) figure {
		return alone(period, 1000, func(n int) { s.update(n%objects, false) })
	}},
	{"update, the object has moved to another node", 0.7, 2, false, func(s side, objects int, period time.Duration) figure {
		return alone(period, 1000, func(n int) { s.update(n%objects, true) })
	}},
	{"iterate over all objects", 0.4, 0, true, func(s side, _ int, period time.Duration) figure {
		return alone(period, 1, func(int) { s.all() })
	}},
	{"iterate over the 100 objects of a node", 0.3, 0, true, func(s side, _ int, period time.Duration) figure {
		return alone(period, 100, func(n int) { s.node(n) })
	}},
}

// alone repeats a function in this goroutine. The figure has the CPU time of the process, including
// garbage collection, and the allocations.
func alone(period time.Duration, batch int, do func(n int)) figure {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	start, cpu := time.Now(), cpuTime()
	n := 0
	for time.Since(start) < period {
		for range batch {
			do(n)
			n++
		}
	}
	took := cpuTime() - cpu
	runtime.ReadMemStats(&after)
	return figure{
		nanoseconds: float64(took.Nanoseconds()) / float64(n),
		bytes:       float64(after.TotalAlloc-before.TotalAlloc) / float64(n),
		allocations: float64(after.Mallocs-before.Mallocs) / float64(n),
	}
}

// done has the number of operations, and the time they took.
type done struct {
	times     int64
	wall, cpu time.Duration
}

func wallOf(d done) figure {
	return figure{nanoseconds: float64(d.wall.Nanoseconds()) / float64(d.times)}
}
func cpuOf(d done) figure {
	return figure{nanoseconds: float64(d.cpu.Nanoseconds()) / float64(d.times)}
}

// parallel repeats a function in this many goroutines.
func parallel(period time.Duration, goroutines int, do func(n int)) done {
	runtime.GC()
	var (
		times atomic.Int64
		all   sync.WaitGroup
		cpu   = cpuTime()
		start = time.Now()
	)
	for g := range goroutines {
		all.Go(func() {
			n := 0
			for time.Since(start) < period {
				for range 100 {
					do(g*1000 + n)
					n++
				}
			}
			times.Add(int64(n))
		})
	}
	all.Wait()
	return done{times.Load(), time.Since(start), cpuTime() - cpu}
}

// whileRunning repeats a function in another goroutine without a pause, until stop is called. stop
// returns when that goroutine has ended.
func whileRunning(do func(n int)) (stop func()) {
	var (
		stopped atomic.Bool
		done    sync.WaitGroup
	)
	done.Go(func() {
		for n := 0; !stopped.Load(); n++ {
			do(n)
		}
	})
	return func() {
		stopped.Store(true)
		done.Wait()
	}
}

// cpuTime returns the CPU time of the process so far.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

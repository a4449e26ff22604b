// Package meter takes what operations cost: time, CPU time and allocations, all of
// them of the whole process, so that what a queue or an informer does in goroutines
// of its own is part of it.
package meter

import (
	"runtime"
	"syscall"
	"time"
)

// Cost is what one operation takes on average: nanoseconds, and what it allocates.
type Cost struct {
	Wall, CPU          float64
	Bytes, Allocations float64
}

// Mark is a moment from which a cost is taken.
type Mark struct {
	wall               time.Time
	cpu                time.Duration
	bytes, allocations uint64
}

// Start collects garbage, so that nobody pays for what was before, and begins.
func Start() Mark {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return Mark{wall: time.Now(), cpu: CPU(), bytes: stats.TotalAlloc, allocations: stats.Mallocs}
}

// Elapsed is how long ago the mark is.
func (m Mark) Elapsed() time.Duration { return time.Since(m.wall) }

// Per is what each of n operations since the mark has cost.
func (m Mark) Per(n int) Cost {
	wall, cpu := m.Elapsed(), CPU()-m.cpu
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return Cost{
		Wall:        float64(wall.Nanoseconds()) / float64(n),
		CPU:         float64(cpu.Nanoseconds()) / float64(n),
		Bytes:       float64(stats.TotalAlloc-m.bytes) / float64(n),
		Allocations: float64(stats.Mallocs-m.allocations) / float64(n),
	}
}

// CPU is what the process has used so far, user and system, all threads.
func CPU() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err) // RUSAGE_SELF is always valid
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

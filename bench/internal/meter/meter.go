// Package meter measures the cost of operations: time, CPU time and allocations. All of them cover
// the whole process, including the goroutines of a queue or an informer.
package meter

import (
	"runtime"
	"syscall"
	"time"
)

// Cost is the average cost of one operation: nanoseconds and allocations.
type Cost struct {
	Wall, CPU          float64
	Bytes, Allocations float64
}

// Baseline is the beginning of a measurement.
type Baseline struct {
	wall               time.Time
	cpu                time.Duration
	bytes, allocations uint64
}

// Start begins a measurement. It first collects garbage, so that earlier garbage does not count.
func Start() Baseline {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return Baseline{wall: time.Now(), cpu: CPU(), bytes: stats.TotalAlloc, allocations: stats.Mallocs}
}

// Elapsed returns the time since the baseline.
func (m Baseline) Elapsed() time.Duration { return time.Since(m.wall) }

// Per returns the average cost since the baseline, for n operations.
func (m Baseline) Per(n int) Cost {
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

// CPU returns the CPU time of the process so far, user and system, all threads.
func CPU() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err) // RUSAGE_SELF is always valid
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

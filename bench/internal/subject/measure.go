package subject

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/kinform/kinform/bench/internal/meter"
)

// Report is the result of a command. Fields that do not apply to the command are zero.
type Report struct {
	Phase string // "synced", "ready" or "done"

	// At is when the phase was reached. Wall and CPU are the time since the command. CPU covers the
	// whole process, user and system, all threads.
	At        time.Time
	Wall, CPU time.Duration

	// PeakRSS is the maximum resident size of the process so far, in bytes; 0 if the system does
	// not provide it.
	PeakRSS uint64

	// Heap is the live heap after a garbage collection, in bytes, minus the live heap before the
	// sync. Objects is the number of stored objects.
	Heap    uint64
	Objects int

	// Allocated is the number of allocated bytes, including freed ones.
	Allocated uint64
}

// baseline is the beginning of a measurement.
type baseline struct {
	wall      time.Time
	cpu       time.Duration
	allocated uint64
}

func takeBaseline() baseline {
	return baseline{wall: time.Now(), cpu: meter.CPU(), allocated: allocated()}
}

// report returns the resources used since the baseline.
func (m baseline) report(phase string) Report {
	at, cpu := time.Now(), meter.CPU()
	return Report{Phase: phase, At: at, Wall: at.Sub(m.wall), CPU: cpu - m.cpu, Allocated: allocated() - m.allocated}
}

// peakRSS reads VmHWM. Rusage also has a maximum, but a child process inherits its parent's.
func peakRSS() uint64 {
	f, err := os.Open("/proc/self/status")
	if err != nil {
		return 0
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var kilobytes uint64
		if value, ok := strings.CutPrefix(lines.Text(), "VmHWM:"); ok {
			_, _ = fmt.Sscan(value, &kilobytes)
			return kilobytes << 10
		}
	}
	return 0
}

// liveHeap returns the live heap after garbage collection. It collects twice, because the first
// collection may only move pooled objects.
func liveHeap() uint64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

func allocated() uint64 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.TotalAlloc
}

// waitUntilQuiet waits until almost nothing has been allocated for a while.
func waitUntilQuiet() {
	const quiet, little = 300 * time.Millisecond, 64 << 10
	last, since := allocated(), time.Now()
	for time.Since(since) < quiet {
		time.Sleep(quiet / 10)
		if a := allocated(); a > last+little {
			last, since = a, time.Now()
		}
	}
}

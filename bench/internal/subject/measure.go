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

// Report is the answer to an order. Fields that do not belong to the order are zero.
type Report struct {
	Phase string // "synced", "ready" or "done"

	// At is when it was reached, Wall and CPU what that took since the order. CPU is
	// that of the whole process, user and system, all threads.
	At        time.Time
	Wall, CPU time.Duration

	// PeakRSS is the greatest resident size that the process ever had, in bytes; 0
	// where the system does not tell.
	PeakRSS uint64

	// Heap is what lives on the heap, in bytes, beyond what lived there before the
	// sync, after a collection. Objects is how many objects are held.
	Heap    uint64
	Objects int

	// Allocated is how many bytes were allocated, freed ones included.
	Allocated uint64
}

// mark is a moment from which time is taken.
type mark struct {
	wall      time.Time
	cpu       time.Duration
	allocated uint64
}

func now() mark {
	return mark{wall: time.Now(), cpu: meter.CPU(), allocated: allocated()}
}

// report has the resources used since the mark.
func (m mark) report(phase string) Report {
	at, cpu := time.Now(), meter.CPU()
	return Report{Phase: phase, At: at, Wall: at.Sub(m.wall), CPU: cpu - m.cpu, Allocated: allocated() - m.allocated}
}

// peakRSS reads VmHWM. Rusage has a maximum as well, but a child inherits that of
// its parent.
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

// liveHeap is what survives a collection. The first run may only move what lies in
// pools to where the second finds it.
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

// settle waits until next to nothing has been allocated for a while.
func settle() {
	const quiet, little = 300 * time.Millisecond, 64 << 10
	last, since := allocated(), time.Now()
	for time.Since(since) < quiet {
		time.Sleep(quiet / 10)
		if a := allocated(); a > last+little {
			last, since = a, time.Now()
		}
	}
}

package e2e_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"
	"weak"

	"go.uber.org/goleak"
)

// heapMargin is how many bytes more than before a test the heap may have after
// it. 5,000 pods in a store take many times as much; what stays is caches of the
// standard library and of the test itself.
const heapMargin = 2 << 20

// residue is what existed before a test, to be compared with what is left after.
//
// Goroutines are counted by goleak. Connections are counted by the pipeline's
// cluster.Network, through which all of them were made. Timers can't be counted
// in Go; but one that is armed keeps alive what it will call, and so each test
// also checks, by weak pointers, that pipeline and client have been collected.
type residue struct {
	goroutines goleak.Option
	heap       uint64
}

func takeResidue() residue {
	kube.CloseIdle()
	return residue{goroutines: goleak.IgnoreCurrent(), heap: heapInUse()}
}

// requireNothingMore fails if there is more than there was. Whatever the test
// still refers to counts.
func (before residue) requireNothingMore(t *testing.T) {
	t.Helper()
	kube.CloseIdle()
	eventually(t, time.Minute, func() string { // goleak itself has patience for less than half a second
		if err := goleak.Find(before.goroutines); err != nil {
			return err.Error()
		}
		return ""
	})
	var after uint64
	// What a cleanup or a stopped timer keeps is freed when the runtime comes to it. (A timer
	// that was stopped, and lies behind fifty that are armed, keeps what its function refers
	// to for five seconds, in a program of ten lines.)
	began := time.Now()
	eventually(t, time.Minute, func() string {
		if after = heapInUse(); after > before.heap+heapMargin {
			return fmt.Sprintf("bytes of heap: %d before, %d after", before.heap, after)
		}
		return ""
	})
	t.Logf("heap: %.1f MiB before, %.1f MiB after, %v later", mib(before.heap), mib(after), time.Since(began).Round(time.Millisecond))
}

// heapInUse returns the bytes of live objects. It collects three times: what a
// sync.Pool holds is freed by the second collection, what a cleanup frees by the
// third.
func heapInUse() uint64 {
	for range 3 {
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// requireCollected fails if something keeps an object alive. It has patience: a
// timer that was stopped may refer to its function until the scheduler comes
// across it.
func requireCollected[T any](t *testing.T, what string, alive weak.Pointer[T]) {
	t.Helper()
	eventually(t, time.Minute, func() string {
		runtime.GC()
		if alive.Value() != nil {
			return "something still refers to the " + what + ": a timer?"
		}
		return ""
	})
}

func mib(bytes uint64) float64 { return float64(bytes) / (1 << 20) }

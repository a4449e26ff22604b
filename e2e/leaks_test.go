package e2e_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"
	"weak"

	"go.uber.org/goleak"
)

// heapMargin is how many more bytes the heap may have after a test than before. A store of 5,000
// pods needs many times heapMargin. Caches of the standard library and of the test itself need
// less, and remain.
const heapMargin = 2 << 20

// baseline is the state before a test, for comparison with the state after the test.
//
// goleak counts goroutines. The pipeline's cluster.Network counts connections, because it makes all
// of them. Go cannot count timers. But an active timer keeps alive the objects that its function
// uses. Therefore each test also checks with weak pointers that pipeline and client have been
// collected.
type baseline struct {
	goroutines goleak.Option
	heap       uint64
}

func takeBaseline() baseline {
	kube.CloseIdle()
	return baseline{goroutines: goleak.IgnoreCurrent(), heap: heapInUse()}
}

// requireNoLeaks fails the test if there are more goroutines than before, or if the heap has
// grown by more than heapMargin. Objects to which the test still refers count as well.
func (before baseline) requireNoLeaks(t *testing.T) {
	t.Helper()
	kube.CloseIdle()
	eventually(t, time.Minute, func() string { // goleak itself waits for less than half a second.
		if err := goleak.Find(before.goroutines); err != nil {
			return err.Error()
		}
		return ""
	})
	var after uint64
	// The runtime frees memory that a cleanup or a stopped timer keeps only some time later. In a
	// program of ten lines, a stopped timer behind fifty active ones kept its function's objects
	// for five seconds.
	began := time.Now()
	eventually(t, time.Minute, func() string {
		if after = heapInUse(); after > before.heap+heapMargin {
			return fmt.Sprintf("bytes of heap: %d before, %d after", before.heap, after)
		}
		return ""
	})
	t.Logf("heap: %.1f MiB before, %.1f MiB after, %v later", mib(before.heap), mib(after), time.Since(began).Round(time.Millisecond))
}

// heapInUse returns the bytes of live objects. It collects garbage three times. The second
// collection frees objects in a sync.Pool, and the third one frees objects of cleanups.
func heapInUse() uint64 {
	for range 3 {
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// requireCollected fails the test if something keeps an object alive. It waits, because a stopped
// timer refers to its function until the scheduler removes the timer.
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

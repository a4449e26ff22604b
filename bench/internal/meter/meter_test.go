package meter_test

import (
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/bench/internal/meter"
)

var sink []byte

func TestACostIsPerOperation(t *testing.T) {
	start := meter.Start()
	cpu := meter.CPU()
	const operations = 8
	for range operations {
		sink = make([]byte, 1<<20)
	}
	for meter.CPU()-cpu < 20*time.Millisecond {
	}
	cost := start.Per(operations)
	require.InDelta(t, 1<<20, cost.Bytes, 64<<10)
	require.InDelta(t, 1, cost.Allocations, 10)
	require.GreaterOrEqual(t, cost.CPU, float64(20*time.Millisecond)/operations)
	require.Positive(t, cost.Wall)
}

func TestAThreadWithoutAProcessorCountsAsDelayed(t *testing.T) {
	before := meter.Delayed()
	if before == 0 {
		t.Skip("the system does not provide the delay")
	}
	var all sync.WaitGroup
	for range 2 * runtime.NumCPU() {
		all.Go(func() {
			// each goroutine needs a thread: twice as many as there are processors
			runtime.LockOSThread()
			for begin := meter.CPU(); meter.CPU()-begin < 100*time.Millisecond; {
			}
		})
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2 * runtime.NumCPU()))
	all.Wait()
	require.Greater(t, meter.Delayed(), before)
}

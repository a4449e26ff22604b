package view

import (
	"io"
	"net/http"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/internal/testing/testsize"
	"github.com/kinform/kinform/workqueue"
)

// A hundred viewers, some of which do not read, cost the program little more than one viewer. A
// frame is made once, and the memory for each viewer is bounded.
func TestAHundredViewers(t *testing.T) {
	testsize.SkipIfShort(t, "measures a frame with a hundred viewers, many times")
	r := start(t, Options{MaxViewers: 120}, 200, nil)
	jobs := workqueue.New(QueueOptions(r.view, workqueue.Options[string]{Name: "jobs", Logger: silent}))
	Queue(r.view, jobs, "pods")
	transport := &http.Transport{DisableCompression: true}
	t.Cleanup(transport.CloseIdleConnections)
	look := func(reads bool) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.url+"stream", nil)
		require.NoError(t, err)
		answer, err := transport.RoundTrip(request)
		require.NoError(t, err)
		require.Equal(t, 200, answer.StatusCode)
		t.Cleanup(func() { _ = answer.Body.Close() })
		if reads {
			go func() { _, _ = io.Copy(io.Discard, answer.Body) }()
		}
	}
	heap := func() float64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return float64(m.HeapAlloc + m.StackInuse)
	}
	pods := r.view.frameBuilder("pods")
	// measure returns the bytes of the heap, and the median time in seconds to make a frame.
	measure := func() (float64, float64) {
		var all []float64
		for range 15 {
			time.Sleep(100 * time.Millisecond)
			pods.mu.Lock()
			all = append(all, pods.cost.Building)
			pods.mu.Unlock()
		}
		return heap(), median(all)
	}
	look(true)
	one, frameOfOne := measure()
	for n := range 100 {
		look(n%5 != 0)
	}
	require.EqualValues(t, 101, r.view.viewers.Load())
	many, frameOfMany := measure()
	t.Logf("one more viewer costs %.0f kB, including both ends of its connection; a frame takes %.0f µs for one viewer, and %.0f µs for 101", (many-one)/100/1e3, 1e6*frameOfOne, 1e6*frameOfMany)
	require.Less(t, (many-one)/100, 300e3, "a viewer must cost less than 300 kB")
	later, _ := measure()
	require.Less(t, later-many, 5e6, "viewers that do not read must not need more and more memory")
}

func median(all []float64) float64 {
	for i := range all {
		for j := range i {
			if all[i] < all[j] {
				all[i], all[j] = all[j], all[i]
			}
		}
	}
	return all[len(all)/2]
}

//go:build !race

package rest

import (
	"bytes"
	"io"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/rest/internal/decode"
)

// cost is the cost of one object of a list.
type cost struct {
	bytes, allocations float64 // including garbage
	heap               float64 // bytes that the object keeps
}

// measuredPods is the number of pods in a list. It is so large that the fixed cost of a list does
// not matter.
const measuredPods = 5000

// TestListDecodeCostStaysBelowLimits has limits a tenth above the measured costs. If a change
// lowers a cost, lower the limit. The test does not run under the race detector, which makes pools
// drop buffers.
func TestListDecodeCostStaysBelowLimits(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2)) // more processors would use more buffers
	var list corev1.PodList
	for pod := range apitest.Pods(measuredPods, apitest.PodOptions{}) {
		list.Items = append(list.Items, *pod)
	}
	body := podList(t, Protobuf, "1", list.Items...)
	list = corev1.PodList{}
	unchanged := func(types.NamespacedName, string, uint64) bool { return true }
	metadata := Omit{AllButMetadata: true, ManagedFields: true}
	for _, gate := range []struct {
		name  string
		list  func() cost
		limit cost
	}{
		{"unshared", listCost[*corev1.Pod](t, body, ResourceOptions{Unshared: true}, nil), cost{29_200, 324, 24_000}},
		{"whole", listCost[*corev1.Pod](t, body, ResourceOptions{}, nil), cost{8_100, 35.1, 7_000}},
		{"without managedFields", listCost[*corev1.Pod](t, body, ResourceOptions{Project: Omit{ManagedFields: true}}, nil), cost{6_220, 26.9, 5_760}},
		{"metadata", listCost[*metav1.PartialObjectMetadata](t, body, ResourceOptions{Project: metadata}, nil), cost{580, 3.8, 385}},
		{"unchanged", listCost[*corev1.Pod](t, body, ResourceOptions{}, unchanged), cost{105, 1.28, 10}},
	} {
		t.Run(gate.name, func(t *testing.T) {
			got := gate.list()
			t.Logf("%.0f bytes in %.2f allocations, of which %.0f bytes stay", got.bytes, got.allocations, got.heap)
			require.LessOrEqual(t, got.bytes, gate.limit.bytes, "bytes per object")
			require.LessOrEqual(t, got.allocations, gate.limit.allocations, "allocations per object")
			require.LessOrEqual(t, got.heap, gate.limit.heap, "bytes of heap per object")
		})
	}
}

// listCost returns a function that measures several lists and returns the lowest cost.
func listCost[T Message](t *testing.T, body []byte, opts ResourceOptions, known decode.KnownFunc) func() cost {
	return func() (least cost) {
		client := &Client{} // its Decoder keeps the shared parts of one list for the next
		for i := range 4 {
			r := Must(NewResource[T](client, podsGVR, opts))
			objects := make([]T, 0, measuredPods)
			before := memoryStats(true)
			stream := r.readList(offline(t.Context(), bytes.NewReader(body)), Protobuf, known)
			for {
				item, err := stream.Next()
				if err == io.EOF {
					break
				}
				require.NoError(t, err)
				objects = append(objects, item.Object)
			}
			require.NoError(t, stream.Close())
			after := memoryStats(false)
			c := cost{
				bytes:       float64(after.TotalAlloc-before.TotalAlloc) / measuredPods,
				allocations: float64(after.Mallocs-before.Mallocs) / measuredPods,
				heap:        max(0, float64(int64(memoryStats(true).HeapAlloc-before.HeapAlloc))/measuredPods),
			}
			require.Len(t, objects, measuredPods)
			runtime.KeepAlive(objects)
			runtime.KeepAlive(r)
			if i == 0 {
				least = c
			}
			least = cost{min(least.bytes, c.bytes), min(least.allocations, c.allocations), min(least.heap, c.heap)}
		}
		return least
	}
}

func memoryStats(collect bool) (m runtime.MemStats) {
	if collect {
		runtime.GC()
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return m
}

//go:build !race

package rest

import (
	"bytes"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/rest/sharing"
)

// TestJSONListAllocationsStayBelowLimits limits the cost of one pod in a list: finding its frame,
// identifying it, decoding it with and without sharing, and passing it through the pipeline.
// apimachinery's decoder alone takes 30 KB in 375 allocations for a pod, and 77 KB in 1,380
// allocations for an unstructured one.
//
// The test is not parallel, because it counts the allocations of the whole process. It does not run
// under the race detector, which allocates as well.
func TestJSONListAllocationsStayBelowLimits(t *testing.T) {
	var all []corev1.Pod
	for pod := range apitest.Pods(4000, apitest.PodOptions{}) {
		all = append(all, *pod)
	}
	body := podList(t, JSON, "1", all...)
	shared := func() ResourceOptions { return ResourceOptions{} }
	alone := ResourceOptions{Decoder: sharing.New(sharing.Options{MaxBytes: -1})}
	for _, limit := range []struct {
		name          string
		bytes, allocs uint64
		list          func(t *testing.T, body []byte)
	}{
		{"pods, shared", 11_450, 56, listFunc(Must(NewResource[*corev1.Pod](&Client{}, podsGVR, shared())))},
		{"pods", 24_900, 188, listFunc(Must(NewResource[*corev1.Pod](&Client{}, podsGVR, alone)))},
		{"unstructured, shared", 27_400, 247, listFunc(Must(NewJSONResource[*unstructured.Unstructured](&Client{}, podsGVR, shared())))},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		limit.list(t, body)
		runtime.ReadMemStats(&after)
		size := (after.TotalAlloc - before.TotalAlloc) / uint64(len(all))
		allocs := (after.Mallocs - before.Mallocs) / uint64(len(all))
		t.Logf("%s: %d bytes in %d allocations each", limit.name, size, allocs)
		require.LessOrEqual(t, size, limit.bytes, limit.name)
		require.LessOrEqual(t, allocs, limit.allocs, limit.name)
	}
}

// listFunc reads a list to its end.
func listFunc[T any](r *Resource[T]) func(t *testing.T, body []byte) {
	return func(t *testing.T, body []byte) {
		stream := r.readList(offline(t.Context(), bytes.NewReader(body)), JSON, nil)
		_, skipped, _ := drainList(stream)
		require.Empty(t, skipped)
		require.NoError(t, stream.Close())
	}
}

//go:build !race

package sharing_test

import (
	"encoding/json"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	kjson "sigs.k8s.io/json"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/rest/sharing"
)

// TestAnEventOfAWatchAllocatesNoMoreThanItDid: a pod of which a container was restarted, beside
// the version before it: container statuses, conditions and managed fields are others. Limits are
// a tenth above what was measured; whoever lowers a cost lowers the limit. (Without that version it is
// 6,160 bytes in 27.4 allocations.) Under the race detector, which makes pools forget, this
// test does not run.
func TestAnEventOfAWatchAllocatesNoMoreThanItDid(t *testing.T) {
	const events = 1000
	d := sharing.New(sharing.Options{})
	pods := decodePods(t, d, encodedPods(t, events+200))[200:] // so many that it has learned what repeats
	var later [events][]byte
	for i, pod := range pods {
		changed := pod.DeepCopy()
		changed.ResourceVersion += "1"
		apitest.RestartContainer(changed)
		var err error
		later[i], err = changed.Marshal()
		require.NoError(t, err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i, pod := range pods {
		require.NoError(t, d.DecodeProtobuf(later[i], &corev1.Pod{}, pod))
	}
	runtime.ReadMemStats(&after)
	bytes := float64(after.TotalAlloc-before.TotalAlloc) / events
	allocations := float64(after.Mallocs-before.Mallocs) / events
	t.Logf("%.0f bytes in %.2f allocations", bytes, allocations)
	require.LessOrEqual(t, bytes, 4500.0)
	require.LessOrEqual(t, allocations, 22.0)
}

// TestAnObjectOfAListCostsAnUnknownProgramLess: pods with the policy Immutable, which is what programs of client-go get by default,
// beside the same pods as client-go decodes them. Limits are a tenth above what was measured; whoever lowers a cost lowers the limit.
func TestAnObjectOfAListCostsAnUnknownProgramLess(t *testing.T) {
	const pods = 2000
	inProtobuf := encodedPods(t, pods)
	inJSON := podsAs(t, pods, func(p *corev1.Pod) ([]byte, error) { return json.Marshal(p) })
	for name, of := range map[string]struct {
		encoded                  [][]byte
		object                   func() any
		theirs                   func([]byte, any) error
		bytes, allocations, heap float64
	}{
		"protobuf":          {inProtobuf, func() any { return &corev1.Pod{} }, func(data []byte, object any) error { return object.(*corev1.Pod).Unmarshal(data) }, 0.50, 0.25, 0.55},
		"JSON":              {inJSON, func() any { return &corev1.Pod{} }, kjson.UnmarshalCaseSensitivePreserveInts, 0.50, 0.25, 0.55},
		"unstructured JSON": {inJSON, func() any { return &map[string]any{} }, kjson.UnmarshalCaseSensitivePreserveInts, 0.59, 0.25, 0.55},
	} {
		theirs := costOf(t, of.encoded, of.object, of.theirs)
		d := sharing.New(sharing.Options{Share: sharing.Immutable, Inspector: sharing.NewInspector(func(sharing.Change) {})})
		ours := costOf(t, of.encoded, of.object, func(data []byte, object any) error {
			if name == "protobuf" {
				return d.DecodeProtobuf(data, object, nil)
			}
			return d.DecodeJSON(data, object)
		})
		runtime.KeepAlive(d)
		t.Logf("%s: %.3f of the bytes, %.3f of the allocations, %.3f of the heap; %.0f and %.0f bytes on the heap", name,
			ours.bytes/theirs.bytes, ours.allocations/theirs.allocations, ours.heap/theirs.heap, theirs.heap, ours.heap)
		require.LessOrEqual(t, ours.bytes/theirs.bytes, of.bytes, name)
		require.LessOrEqual(t, ours.allocations/theirs.allocations, of.allocations, name)
		require.LessOrEqual(t, ours.heap/theirs.heap, of.heap, name)
	}
}

// cost is what one object costs.
type cost struct{ bytes, allocations, heap float64 }

func costOf(t *testing.T, encoded [][]byte, object func() any, decode func([]byte, any) error) cost {
	objects := make([]any, len(encoded))
	var before, after, end runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i, data := range encoded {
		objects[i] = object()
		require.NoError(t, decode(data, objects[i]))
	}
	runtime.ReadMemStats(&after)
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&end)
	n := float64(len(objects))
	runtime.KeepAlive(objects)
	return cost{
		float64(after.TotalAlloc-before.TotalAlloc) / n, float64(after.Mallocs-before.Mallocs) / n, (float64(end.HeapAlloc) - float64(before.HeapAlloc)) / n,
	}
}

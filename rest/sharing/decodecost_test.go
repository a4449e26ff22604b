//go:build !race

package sharing_test

import (
	"encoding/json"
	goruntime "runtime"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	kjson "sigs.k8s.io/json"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/rest/sharing"
)

// TestWatchEventAllocationsStayBelowLimits decodes a pod after the restart of a container, and
// passes its earlier version. Both versions differ in container statuses, conditions and managed
// fields. The limits are a tenth above the measured costs. If a change lowers a cost, lower the
// limit. (Without the earlier version, a pod takes 6,160 bytes in 27.4 allocations.) The test does
// not run under the race detector, which makes pools drop buffers.
func TestWatchEventAllocationsStayBelowLimits(t *testing.T) {
	const events = 1000
	d := sharing.New(sharing.Options{})
	// The first 200 pods let the decoder disable look-ups of fields that do not repeat.
	pods := decodePods(t, d, encodedPods(t, events+200))[200:]
	var later [events][]byte
	for i, pod := range pods {
		changed := pod.DeepCopy()
		changed.ResourceVersion += "1"
		apitest.RestartContainer(changed)
		var err error
		later[i], err = changed.Marshal()
		require.NoError(t, err)
	}
	var before, after goruntime.MemStats
	goruntime.ReadMemStats(&before)
	for i, pod := range pods {
		require.NoError(t, d.DecodeProtobuf(later[i], &corev1.Pod{}, pod))
	}
	goruntime.ReadMemStats(&after)
	bytes := float64(after.TotalAlloc-before.TotalAlloc) / events
	allocations := float64(after.Mallocs-before.Mallocs) / events
	t.Logf("%.0f bytes in %.2f allocations", bytes, allocations)
	require.LessOrEqual(t, bytes, 4500.0)
	require.LessOrEqual(t, allocations, 22.0)
}

// ofPodList returns the map into which an item of a PodList is decoded. The list implies apiVersion
// and kind, because its items lack both.
func ofPodList() *map[string]any { return &map[string]any{"apiVersion": "v1", "kind": "Pod"} }

// TestImmutablePolicyCostsLessThanClientGo compares the costs of decoding the same pods with the
// policy Immutable, the default of module clientgo, and as client-go does. Each limit is the
// largest ratio of the two costs, a tenth above the measured ratio. If a change lowers a cost,
// lower the limit.
func TestImmutablePolicyCostsLessThanClientGo(t *testing.T) {
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
		"unstructured JSON": {inJSON, func() any { return ofPodList() }, kjson.UnmarshalCaseSensitivePreserveInts, 0.34, 0.15, 0.31},
	} {
		theirs := costOf(t, of.encoded, of.object, of.theirs)
		d := sharing.New(sharing.Options{Share: sharing.Immutable, MutationDetector: sharing.NewMutationDetector(func(sharing.Mutation) {})})
		ours := costOf(t, of.encoded, of.object, func(data []byte, object any) error {
			if name == "protobuf" {
				return d.DecodeProtobuf(data, object, nil)
			}
			return d.DecodeJSON(data, object)
		})
		goruntime.KeepAlive(d)
		t.Logf("%s: %.3f of the bytes, %.3f of the allocations, %.3f of the heap; %.0f and %.0f bytes on the heap", name,
			ours.bytes/theirs.bytes, ours.allocations/theirs.allocations, ours.heap/theirs.heap, theirs.heap, ours.heap)
		require.LessOrEqual(t, ours.bytes/theirs.bytes, of.bytes, name)
		require.LessOrEqual(t, ours.allocations/theirs.allocations, of.allocations, name)
		require.LessOrEqual(t, ours.heap/theirs.heap, of.heap, name)
	}
}

// TestTransformCostsLessThanClientGo compares the heap of the same pods with the defaults of module
// clientgo, and as client-go decodes them. A transform removes their managed fields. Each limit is
// the largest ratio of the two, at most a tenth above the measured ratio.
func TestTransformCostsLessThanClientGo(t *testing.T) {
	const pods = 10_000
	inProtobuf := encodedPods(t, pods)
	inJSON := podsAs(t, pods, func(p *corev1.Pod) ([]byte, error) { return json.Marshal(p) })
	strip := func(object any) (any, error) {
		object.(metav1.Object).SetManagedFields(nil)
		return object, nil
	}
	typed := func() runtime.Object { return &corev1.Pod{} }
	untyped := func() runtime.Object { return &unstructured.Unstructured{Object: *ofPodList()} }
	target := func(object any) any {
		if u, ok := object.(*unstructured.Unstructured); ok {
			return &u.Object
		}
		return object
	}
	for name, of := range map[string]struct {
		encoded [][]byte
		object  func() runtime.Object
		theirs  func([]byte, any) error
	}{
		"protobuf":          {inProtobuf, typed, func(data []byte, object any) error { return object.(*corev1.Pod).Unmarshal(data) }},
		"JSON":              {inJSON, typed, kjson.UnmarshalCaseSensitivePreserveInts},
		"unstructured JSON": {inJSON, untyped, kjson.UnmarshalCaseSensitivePreserveInts},
	} {
		if name == "unstructured JSON" {
			of.encoded = of.encoded[:2000] // these pods take 72 kB each
		}
		heapOf := func(one func(data []byte) any) float64 {
			objects := make([]any, len(of.encoded))
			before := heap()
			for i, data := range of.encoded {
				objects[i] = one(data)
			}
			after := heap()
			goruntime.KeepAlive(objects)
			return float64(after-before) / float64(len(of.encoded))
		}
		theirs := heapOf(func(data []byte) any {
			object := of.object()
			require.NoError(t, of.theirs(data, target(object)))
			object2, err := strip(object)
			require.NoError(t, err)
			return object2
		})
		d := sharing.New(sharing.Options{Share: sharing.Immutable, MutationDetector: sharing.NewMutationDetector(func(sharing.Mutation) {})})
		ours := heapOf(func(data []byte) any {
			object := of.object()
			if name == "protobuf" {
				require.NoError(t, d.DecodeProtobuf(data, object, nil))
			} else {
				require.NoError(t, d.DecodeJSON(data, target(object)))
			}
			result, err := sharing.Transform(object, strip)
			require.NoError(t, err)
			return result
		})
		goruntime.KeepAlive(d)
		t.Logf("%s: %.3f of the heap; %.0f and %.0f bytes", name, ours/theirs, theirs, ours)
		require.LessOrEqual(t, ours/theirs, limitWithTransform[name], name)
	}
}

var limitWithTransform = map[string]float64{"protobuf": 0.60, "JSON": 0.59, "unstructured JSON": 0.52}

// cost is the cost of one object.
type cost struct{ bytes, allocations, heap float64 }

func costOf(t *testing.T, encoded [][]byte, object func() any, decode func([]byte, any) error) cost {
	objects := make([]any, len(encoded))
	var before, after, end goruntime.MemStats
	goruntime.GC()
	goruntime.GC()
	goruntime.ReadMemStats(&before)
	for i, data := range encoded {
		objects[i] = object()
		require.NoError(t, decode(data, objects[i]))
	}
	goruntime.ReadMemStats(&after)
	goruntime.GC()
	goruntime.GC()
	goruntime.ReadMemStats(&end)
	n := float64(len(objects))
	goruntime.KeepAlive(objects)
	return cost{
		float64(after.TotalAlloc-before.TotalAlloc) / n, float64(after.Mallocs-before.Mallocs) / n, (float64(end.HeapAlloc) - float64(before.HeapAlloc)) / n,
	}
}

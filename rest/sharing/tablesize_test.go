package sharing_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"weak"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/internal/testing/testsize"
	"github.com/kinform/kinform/rest/sharing"
)

// decodeAndDrop decodes and drops the pods of several deployments. The three pods of a deployment
// have their own probes, tolerations and managed fields.
func decodeAndDrop(t *testing.T, d *sharing.Decoder, deployments int, limit int64) {
	for pod := range apitest.Pods(deployments, apitest.PodOptions{}) {
		for c := range pod.Spec.Containers {
			pod.Spec.Containers[c].LivenessProbe.HTTPGet.Path = "/healthz/" + pod.Name
			pod.Spec.Containers[c].ReadinessProbe.HTTPGet.Path = "/readyz/" + pod.Name
		}
		pod.Spec.Tolerations[0].Key = "taint/" + pod.Name
		pod.ManagedFields[0].Manager = "manager-of-" + pod.Name
		for i := range 3 {
			pod.Name = fmt.Sprintf("%s-%d", pod.Name, i)
			data, err := pod.Marshal()
			require.NoError(t, err)
			require.NoError(t, unmarshal(d, data, &corev1.Pod{}))
			require.LessOrEqual(t, d.Stats().Bytes, limit)
		}
	}
}

// TestDroppedValuesAreCollected: the table drops a value that no object has, and that no later
// bytes repeat. Then the garbage collector frees its memory.
func TestDroppedValuesAreCollected(t *testing.T) {
	const limit = 1 << 20
	d := sharing.New(sharing.Options{MaxBytes: limit})
	pods := decodePods(t, d, encodedPods(t, 2))
	require.Same(t, pods[0].Spec.Containers[0].LivenessProbe, pods[1].Spec.Containers[0].LivenessProbe)
	old := weak.Make(pods[0].Spec.Containers[0].LivenessProbe)
	pods = nil
	runtime.GC()
	require.NotNil(t, old.Value(), "the table must keep the value")

	decodeAndDrop(t, d, 500, limit)
	runtime.GC()
	require.Nil(t, old.Value())

	// For any number of decoded objects, the decoder keeps no more memory than the table's limit.
	before := liveHeap()
	decodeAndDrop(t, d, 500, limit)
	require.Less(t, int64(liveHeap())-int64(before), int64(limit))
	require.NotZero(t, d.Stats().Hits)
	runtime.KeepAlive(d)
}

// TestTableCountsDecodedSizeOfLists: an empty container has three encoded bytes, and takes hundreds
// of bytes in memory.
func TestTableCountsDecodedSizeOfLists(t *testing.T) {
	d := sharing.New(sharing.Options{})
	before := liveHeap()
	for i := range testsize.Scale(40, 10) {
		document := fmt.Sprintf(`{"spec":{"ephemeralContainers":[{"name":"%d"}%s]}}`, i, strings.Repeat(",{}", 20_000))
		require.NoError(t, d.DecodeJSON([]byte(document), &corev1.Pod{}))
		pod := corev1.Pod{Spec: corev1.PodSpec{Containers: make([]corev1.Container, 10_000)}}
		pod.Spec.Containers[0].Name = fmt.Sprint(i)
		encoded, err := pod.Marshal()
		require.NoError(t, err)
		require.NoError(t, d.DecodeProtobuf(encoded, &corev1.Pod{}, nil))
	}
	require.Less(t, int64(liveHeap())-int64(before), int64(16<<20))
	runtime.KeepAlive(d)
}

// TestStateDoesNotRetainStrings: the state that decodes the next object does not
// keep the strings of this object.
func TestStateDoesNotRetainStrings(t *testing.T) {
	d := sharing.New(sharing.Options{MaxBytes: -1})
	pod := corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Args: make([]string, testsize.Scale(1_000_000, 300_000))}}}}
	for i := range pod.Spec.Containers[0].Args {
		pod.Spec.Containers[0].Args[i] = "x"
	}
	encoded, err := pod.Marshal()
	require.NoError(t, err)
	inJSON, err := json.Marshal(&pod)
	require.NoError(t, err)
	require.NoError(t, d.DecodeProtobuf(nil, &corev1.Pod{}, nil))
	before := liveHeap()
	require.NoError(t, d.DecodeProtobuf(encoded, &corev1.Pod{}, nil))
	require.NoError(t, d.DecodeJSON(inJSON, &corev1.Pod{}))
	require.Less(t, int64(liveHeap())-int64(before), int64(4<<20))
	runtime.KeepAlive(d)
	runtime.KeepAlive(encoded)
	runtime.KeepAlive(inJSON)
	runtime.KeepAlive(pod)
}

// TestHeapShrinksWithTheObjects: when objects are no longer used, a Decoder keeps only about as
// much of their memory as the table's limit.
func TestHeapShrinksWithTheObjects(t *testing.T) {
	limit := testsize.Scale(512<<10, 256<<10)
	encoded := encodedPods(t, testsize.Scale(3000, 1500))
	d := sharing.New(sharing.Options{MaxBytes: int64(limit)})
	before := int64(liveHeap())
	pods := decodePods(t, d, encoded)
	held := int64(liveHeap()) - before
	runtime.KeepAlive(pods)
	pods = nil
	left := int64(liveHeap()) - before
	require.Greater(t, held, int64(16*limit))
	require.Less(t, left, int64(2*limit))
	runtime.KeepAlive(d)
	runtime.KeepAlive(encoded)
}

// TestTableCountsDecodedSizeOfMapsAndPointers: a map with one member has five encoded bytes, and
// takes three hundred bytes in memory. A pointer to a struct has four encoded bytes.
func TestTableCountsDecodedSizeOfMapsAndPointers(t *testing.T) {
	rounds := testsize.Scale(80, 40)
	for name, document := range map[string]func(i int) string{
		"maps": func(i int) string { return fmt.Sprintf(`{"x":[%d%s]}`, i, strings.Repeat(`,{"":0}`, 8_000)) },
		"pointers": func(i int) string {
			return fmt.Sprintf(`{"x":[%d%s]}`, i, strings.Repeat(`,{"a":[[[]]]}`, 4_500))
		},
	} {
		d := sharing.New(sharing.Options{MaxBytes: 4 << 20})
		before := liveHeap()
		for i := range rounds {
			var object map[string]any
			for range 4 { // a name gets a member when it repeats
				object = nil
				require.NoError(t, d.DecodeJSON([]byte(document(i)), &object))
			}
		}
		require.Less(t, int64(liveHeap())-int64(before), int64(12<<20), name)
		runtime.KeepAlive(d)
	}
	d := sharing.New(sharing.Options{MaxBytes: 4 << 20})
	before := liveHeap()
	for i := range rounds {
		pod := corev1.Pod{}
		for c := range 100 {
			pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{
				Name: fmt.Sprint(i, c), LivenessProbe: &corev1.Probe{}, Lifecycle: &corev1.Lifecycle{}, SecurityContext: &corev1.SecurityContext{},
			})
		}
		encoded, err := pod.Marshal()
		require.NoError(t, err)
		require.NoError(t, d.DecodeProtobuf(encoded, &corev1.Pod{}, nil))
	}
	require.Less(t, int64(liveHeap())-int64(before), int64(8<<20))
	runtime.KeepAlive(d)
}

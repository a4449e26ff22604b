package sharing_test

import (
	"encoding/json"
	"runtime"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/internal/testing/testsize"
	"github.com/kinform/kinform/rest/sharing"
	"github.com/kinform/kinform/rest/sharing/mutation"
)

// requireApart requires that no two objects share a part that a program can change.
func requireApart[T any](t *testing.T, objects []T) {
	t.Helper()
	all := make([]any, len(objects))
	for i, object := range objects {
		all[i] = object
	}
	require.NoError(t, mutation.CheckUnshared(all...))
}

// TestStringsOnlySharesStrings: with the policy StringsOnly, programs can change objects in place.
func TestStringsOnlySharesStrings(t *testing.T) {
	t.Parallel()
	encoded := encodedPods(t, testsize.Scale(500, 150))
	d := sharing.New(sharing.Options{Share: sharing.StringsOnly})
	pods := make([]*corev1.Pod, len(encoded))
	partial := make([]*metav1.PartialObjectMetadata, len(encoded))
	texts := make([]*corev1.Pod, len(encoded))
	maps := make([]map[string]any, len(encoded))
	for i, data := range encoded {
		pods[i], texts[i], partial[i] = &corev1.Pod{}, &corev1.Pod{}, &metav1.PartialObjectMetadata{}
		require.NoError(t, d.DecodeProtobuf(data, pods[i], pods[max(i-1, 0)]))
		var want corev1.Pod
		require.NoError(t, want.Unmarshal(data))
		require.Equal(t, &want, pods[i])
		inJSON, err := json.Marshal(&want)
		require.NoError(t, err)
		require.NoError(t, d.DecodeJSON(inJSON, texts[i]))
		require.NoError(t, d.DecodeJSON(inJSON, &maps[i]))
		require.NoError(t, d.DecodeJSON(inJSON, partial[i]))
	}
	requireApart(t, pods)
	requireApart(t, texts)
	requireApart(t, maps)
	requireApart(t, partial)
	images := map[*byte]bool{}
	for _, pod := range pods {
		images[unsafe.StringData(pod.Spec.Containers[0].Image)] = true
	}
	require.Less(t, len(images), len(pods)/4, "pods must share equal strings")
}

// fieldsEverywhere has a member fieldsV1 in managed fields, and on other paths that look similar.
const fieldsEverywhere = `{"fieldsV1":{"a":{}},"spec":{"fieldsV1":{"a":{"b":{}}},"managedFields":[{"fieldsV1":{"a":{}}}],` +
	`"metadata":{"managedFields":[{"fieldsV1":{"a":{}}}]}},"managedFields":[{"fieldsV1":{"a":{}}}],"list":[{"fieldsV1":{"a":{}}}],` +
	`"metadata":{"name":"x","fieldsV1":{"a":{}},"managedFields":[{"fieldsV1":{"f:a":{"fieldsV1":{}}},"other":{"fieldsV1":{"a":{}}}},[{"fieldsV1":{"a":{}}}]],` +
	`"labels":{"fieldsV1":{"a":{}}}}}`

// TestFieldsV1IsSharedOnlyInManagedFields: a map with the key fieldsV1 on any other path belongs to
// one object.
func TestFieldsV1IsSharedOnlyInManagedFields(t *testing.T) {
	t.Parallel()
	for policy, shared := range map[sharing.Policy]bool{sharing.StringsOnly: false, sharing.Immutable: true} {
		d := sharing.New(sharing.Options{Share: policy})
		var objects []map[string]any
		for range 6 {
			var object, want map[string]any
			require.NoError(t, d.DecodeJSON([]byte(fieldsEverywhere), &object))
			require.NoError(t, json.Unmarshal([]byte(fieldsEverywhere), &want))
			require.Equal(t, want, object)
			objects = append(objects, object)
		}
		var contents []any
		for _, object := range objects {
			entry := object["metadata"].(map[string]any)["managedFields"].([]any)[0].(map[string]any)
			contents = append(contents, entry["fieldsV1"])
			if shared {
				delete(entry, "fieldsV1")
			}
		}
		requireApart(t, objects)
		if shared {
			require.Error(t, mutation.CheckUnshared(contents[4:]...))
		} else {
			require.NoError(t, mutation.CheckUnshared(contents...))
		}
	}
	type odd struct {
		Spec struct {
			FieldsV1 *metav1.FieldsV1 `json:"fieldsV1" protobuf:"bytes,1,opt,name=fieldsV1"`
		} `json:"spec" protobuf:"bytes,1,opt,name=spec"`
	}
	d := sharing.New(sharing.Options{Share: sharing.Immutable})
	var objects [6]odd
	for i := range objects {
		if i%2 == 0 {
			require.NoError(t, d.DecodeJSON([]byte(`{"spec":{"fieldsV1":{"f:a":{}}}}`), &objects[i]))
		} else {
			require.NoError(t, d.DecodeProtobuf([]byte("\x0a\x06\x0a\x04\x0a\x02{}"), &objects[i], nil))
		}
	}
	requireApart(t, objects[:])
}

// BenchmarkHeapByPolicy reports the heap memory of a pod, for each policy of sharing.
func BenchmarkHeapByPolicy(b *testing.B) {
	for name, opts := range map[string]sharing.Options{"everything": {}, "immutable": {Share: sharing.Immutable}, "constants": {Share: sharing.StringsOnly}, "nothing": {MaxBytes: -1}} {
		b.Run(name, func(b *testing.B) {
			encoded := encodedPods(b, 5000)
			for b.Loop() {
				d := sharing.New(opts)
				pods := make([]*corev1.Pod, len(encoded))
				before := heap()
				for i, data := range encoded {
					pods[i] = &corev1.Pod{}
					if err := d.DecodeProtobuf(data, pods[i], nil); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(heap()-before)/float64(len(pods)), "heap-B/pod")
				runtime.KeepAlive(pods)
			}
		})
	}
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

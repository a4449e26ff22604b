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

// jsonPods are pods as they come from a server, one after another.
func jsonPods(tb testing.TB, n int) [][]byte {
	var encoded [][]byte
	for pod := range apitest.Pods(n, apitest.PodOptions{}) {
		data, err := json.Marshal(pod)
		require.NoError(tb, err)
		encoded = append(encoded, data)
	}
	return encoded
}

// BenchmarkPodsInJSON is BenchmarkPods for JSON.
func BenchmarkPodsInJSON(b *testing.B) {
	encoded := jsonPods(b, benchPods)
	for _, d := range []struct {
		name string
		make func() func([]byte, any) error
	}{
		{"Apimachinery", func() func([]byte, any) error { return kjson.UnmarshalCaseSensitivePreserveInts }},
		{"Alone", func() func([]byte, any) error { return sharing.New(sharing.Options{MaxBytes: -1}).DecodeJSON }},
		{"Shared", func() func([]byte, any) error { return sharing.New(sharing.Options{}).DecodeJSON }},
	} {
		b.Run(d.name, func(b *testing.B) { benchPodsInJSON[corev1.Pod](b, encoded, d.make) })
		b.Run(d.name+"/Unstructured", func(b *testing.B) { benchPodsInJSON[map[string]any](b, encoded, d.make) })
	}
}

func benchPodsInJSON[T any](b *testing.B, encoded [][]byte, make_ func() func([]byte, any) error) {
	b.ReportAllocs()
	var heap uint64
	for b.Loop() {
		b.StopTimer()
		before := liveHeap()
		b.StartTimer()
		decode, pods := make_(), make([]*T, 0, benchPods)
		for _, data := range encoded {
			pod := new(T)
			if err := decode(data, pod); err != nil {
				b.Fatal(err)
			}
			pods = append(pods, pod)
		}
		b.StopTimer()
		heap = liveHeap() - before
		runtime.KeepAlive(pods)
		runtime.KeepAlive(decode)
		b.StartTimer()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchPods, "ns/pod")
	b.ReportMetric(float64(heap)/benchPods, "heap-B/pod")
}

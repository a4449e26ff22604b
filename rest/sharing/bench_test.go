package sharing_test

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/rest/sharing"
)

const benchPods = 20_000

// encodedPods returns the encodings of n pods, as a server sends them.
func encodedPods(tb testing.TB, n int) [][]byte {
	return podsAs(tb, n, (*corev1.Pod).Marshal)
}

func podsAs(tb testing.TB, n int, encode func(*corev1.Pod) ([]byte, error)) (encoded [][]byte) {
	for pod := range apitest.Pods(n, apitest.PodOptions{}) {
		data, err := encode(pod)
		require.NoError(tb, err)
		encoded = append(encoded, data)
	}
	return encoded
}

// decoders has the compared decoders. Each round makes new ones.
var decoders = []struct {
	name string
	make func() func([]byte, any) error
}{
	{"Unmarshal", func() func([]byte, any) error {
		return func(data []byte, object any) error { return object.(*corev1.Pod).Unmarshal(data) }
	}},
	{"Alone", func() func([]byte, any) error { return first(sharing.New(sharing.Options{MaxBytes: -1})) }},
	{"StringsOnly", func() func([]byte, any) error { return first(sharing.New(sharing.Options{Share: sharing.StringsOnly})) }},
	{"Immutable", func() func([]byte, any) error { return first(sharing.New(sharing.Options{Share: sharing.Immutable})) }},
	{"Shared", func() func([]byte, any) error { return first(sharing.New(sharing.Options{})) }},
}

// BenchmarkPods decodes 20,000 pods of apitest and keeps them all. It reports the cost of one pod,
// and the memory that a pod keeps at the end.
func BenchmarkPods(b *testing.B) {
	encoded := encodedPods(b, benchPods)
	for _, d := range decoders {
		b.Run(d.name, func(b *testing.B) { benchPodsOf[corev1.Pod](b, encoded, d.make) })
	}
}

// benchPodsOf decodes into objects of type T.
func benchPodsOf[T any](b *testing.B, encoded [][]byte, newDecoder func() func([]byte, any) error) {
	b.ReportAllocs()
	var heap uint64
	for b.Loop() {
		b.StopTimer()
		before := liveHeap()
		b.StartTimer()
		decode, pods := newDecoder(), make([]*T, 0, benchPods)
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

func liveHeap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

package rest

import (
	"bytes"
	"io"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/listwatch"
)

const clusterPodCount = 20_000

// clusterPods returns a list of pods made by apitest.
func clusterPods(tb testing.TB, e Encoding) []byte {
	var all []corev1.Pod
	for pod := range apitest.Pods(clusterPodCount, apitest.PodOptions{}) {
		all = append(all, *pod)
	}
	return podList(tb, e, "1", all...)
}

// BenchmarkCluster reads a list of 20,000 pods of about 7 kB (10 kB in JSON) from memory and keeps
// the objects, like a cache. It does so once for each way to save memory. It reports the cost of
// one pod, and the memory that a pod keeps at the end: heap-B/pod.
func BenchmarkCluster(b *testing.B) {
	for _, e := range encodings {
		body := clusterPods(b, e)
		for _, v := range []struct {
			name  string
			share bool
			drop  Projection
		}{
			{"all", false, nil},
			{"shared", true, nil},
			{"no managedFields", false, Omit{ManagedFields: true}},
			{"shared, no managedFields", true, Omit{ManagedFields: true}},
			{"metadata", false, Omit{AllButMetadata: true, ManagedFields: true}},
			{"metadata, shared", true, Omit{AllButMetadata: true, ManagedFields: true}},
		} {
			b.Run(e.String()+"/"+v.name, func(b *testing.B) {
				benchCluster(b, e, body, func() *Resource[*corev1.Pod] {
					return Must(NewResource[*corev1.Pod](&Client{}, podsGVR, ResourceOptions{Project: v.drop, Unshared: !v.share}))
				})
			})
		}
	}
	body := clusterPods(b, Protobuf)
	b.Run("protobuf/PartialObjectMetadata, shared", func(b *testing.B) {
		benchCluster(b, Protobuf, body, func() *Resource[*metav1.PartialObjectMetadata] {
			return Must(NewResource[*metav1.PartialObjectMetadata](&Client{}, podsGVR, ResourceOptions{
				Project: Omit{AllButMetadata: true, ManagedFields: true},
			}))
		})
	})
}

func benchCluster[T any](b *testing.B, e Encoding, body []byte, resource func() *Resource[T]) {
	b.ReportAllocs()
	var heap uint64
	for b.Loop() {
		b.StopTimer()
		before := heapInUse()
		b.StartTimer()
		r := resource()
		stream := r.readList(offline(b.Context(), bytes.NewReader(body)), e, nil)
		items := make([]listwatch.Item[T], 0, clusterPodCount)
		for {
			item, err := stream.Next()
			if err == io.EOF {
				break
			}
			require.NoError(b, err)
			items = append(items, item)
		}
		require.NoError(b, stream.Close())
		b.StopTimer()
		require.Len(b, items, clusterPodCount)
		objects := slices.Collect(func(yield func(T) bool) {
			for _, item := range items {
				yield(item.Object)
			}
		})
		clear(items)
		items = nil
		heap = heapInUse() - before
		runtime.KeepAlive(objects)
		runtime.KeepAlive(r)
		b.StartTimer()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/clusterPodCount, "ns/pod")
	b.ReportMetric(float64(heap)/clusterPodCount, "heap-B/pod")
}

// heapInUse returns the size of all reachable objects.
func heapInUse() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

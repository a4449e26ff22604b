package reshare_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/internal/reshare"
)

// BenchmarkTransform measures a transform that strips managed fields of a pod.
func BenchmarkTransform(b *testing.B) {
	for pod := range apitest.Pods(1, apitest.PodOptions{}) {
		b.ReportAllocs()
		for b.Loop() {
			_, _ = reshare.Transform(pod, func(copied any) (any, error) {
				copied.(*corev1.Pod).ManagedFields = nil
				return copied, nil
			})
		}
	}
}

// BenchmarkCopy measures the copy of the object, which a transform in client-go does not need.
func BenchmarkCopy(b *testing.B) {
	for pod := range apitest.Pods(1, apitest.PodOptions{}) {
		b.ReportAllocs()
		for b.Loop() {
			pod.DeepCopyObject()
		}
	}
}

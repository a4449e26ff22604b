package rejoin_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/internal/rejoin"
)

// BenchmarkTransform: a transform that strips managed fields of a pod.
func BenchmarkTransform(b *testing.B) {
	for pod := range apitest.Pods(1, apitest.PodOptions{}) {
		b.ReportAllocs()
		for b.Loop() {
			_, _ = rejoin.Transform(pod, func(copied any) (any, error) {
				copied.(*corev1.Pod).ManagedFields = nil
				return copied, nil
			})
		}
	}
}

// BenchmarkCopy is the part of it that client-go's programs do not have.
func BenchmarkCopy(b *testing.B) {
	for pod := range apitest.Pods(1, apitest.PodOptions{}) {
		b.ReportAllocs()
		for b.Loop() {
			pod.DeepCopyObject()
		}
	}
}

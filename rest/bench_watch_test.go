package rest

import (
	"bytes"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/kinform/kinform/apitest"
)

// BenchmarkWatch reads events from memory. Each event changes one annotation of another pod made by
// apitest. It measures framing, decoding and the way through the pipeline, without the network. The
// decoder has decoded the pods before, as after a list.
func BenchmarkWatch(b *testing.B) {
	const events = 5000
	for _, e := range encodings {
		before, after := watchedPods(b, e, events, 0), watchedPods(b, e, events, 1)
		b.Run(e.String(), func(b *testing.B) {
			r := Must(NewResource[*corev1.Pod](&Client{}, podsGVR, ResourceOptions{}))
			read := func(body []byte) {
				stream := r.readWatch(offline(b.Context(), bytes.NewReader(body)), e, nil, nil)
				for range events {
					_, err := stream.Next()
					require.NoError(b, err)
				}
				_, err := stream.Next()
				require.Equal(b, io.EOF, err)
				require.NoError(b, stream.Close())
			}
			read(before)
			b.ReportAllocs()
			for b.Loop() {
				read(after)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/events, "ns/event")
		})
	}
}

// watchedPods returns the body of a watch with n pods in a certain state.
func watchedPods(tb testing.TB, e Encoding, n, state int) (body []byte) {
	for pod := range apitest.Pods(n, apitest.PodOptions{}) {
		pod.Status.ContainerStatuses[0].RestartCount = int32(state)
		apitest.RestartContainer(pod)
		body = append(body, event(tb, e, "MODIFIED", "Pod", pod)...)
	}
	return body
}

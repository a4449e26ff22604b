package view

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

// A burst removes objects from the sample. After the burst, all objects return: the page of a quiet
// pipeline shows every change.
func TestSampleGrowsBackAfterABurst(t *testing.T) {
	r := start(t, Options{}, 3, nil)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	_, frames, err := r.view.Frames(ctx, "pods")
	require.NoError(t, err)
	written, quiet := 0, 0
	for f := range frames {
		switch {
		case f.Scale == 1 && quiet == 0: // the burst
			for range 500 {
				pod := &corev1.Pod{}
				pod.Namespace, pod.Name = "burst", fmt.Sprintf("pod-%d", written)
				_, err := r.server.Create(pod)
				require.NoError(t, err)
				written++
			}
			require.Less(t, written, 100_000, "a large burst must shrink the sample")
			continue
		case f.Scale == 1:
			return
		}
		quiet++
		require.Less(t, quiet, 100, "the sample must have all objects ten seconds after the burst, not one of %d", f.Scale)
	}
	require.Fail(t, "the frames must not end")
}

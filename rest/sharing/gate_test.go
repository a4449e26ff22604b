//go:build !race

package sharing_test

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/kinform/kinform/apitest"
	"github.com/kinform/kinform/rest/sharing"
)

// TestAnEventOfAWatchAllocatesNoMoreThanItDid: a pod of which a container was restarted, beside
// the version before it: container statuses, conditions and managed fields are others. Limits are
// a tenth above what was measured; whoever lowers a cost lowers the limit. (Without that version it is
// 6,160 bytes in 27.4 allocations.) Under the race detector, which makes pools forget, this
// test does not run.
func TestAnEventOfAWatchAllocatesNoMoreThanItDid(t *testing.T) {
	const events = 1000
	d := sharing.New(sharing.Options{})
	pods := decodePods(t, d, encodedPods(t, events+200))[200:] // so many that it has learned what repeats
	var later [events][]byte
	for i, pod := range pods {
		changed := pod.DeepCopy()
		changed.ResourceVersion += "1"
		apitest.RestartContainer(changed)
		var err error
		later[i], err = changed.Marshal()
		require.NoError(t, err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i, pod := range pods {
		require.NoError(t, d.DecodeProtobuf(later[i], &corev1.Pod{}, pod))
	}
	runtime.ReadMemStats(&after)
	bytes := float64(after.TotalAlloc-before.TotalAlloc) / events
	allocations := float64(after.Mallocs-before.Mallocs) / events
	t.Logf("%.0f bytes in %.2f allocations", bytes, allocations)
	require.LessOrEqual(t, bytes, 4500.0)
	require.LessOrEqual(t, allocations, 22.0)
}

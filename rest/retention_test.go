package rest

import (
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/kinform/kinform/internal/testing/testsize"
	"github.com/kinform/kinform/listwatch"
)

func TestListItemDoesNotRetainOtherItems(t *testing.T) { // RC-11
	const size = 50_000
	n := testsize.Scale(200, 100)
	list := plainPods(n)
	for i := range list {
		list[i].Annotations = map[string]string{"large": strings.Repeat("x", size)}
	}
	for _, e := range encodings {
		client := serveBytes(t, e, podList(t, e, "1", list...))
		before := heapBytes()
		kept := listFirstPod(t, client)
		growth := heapBytes() - before
		require.Less(t, growth, int64(n*size/4), "bytes in memory for one object of %d", size)
		runtime.KeepAlive(kept)
	}
}

// listFirstPod reads a list to its end and returns its first object.
func listFirstPod(t *testing.T, client *Client) (first *corev1.Pod) {
	stream, err := pods(client).List(t.Context(), listwatch.ListOptions{})
	require.NoError(t, err)
	for item, err := stream.Next(); err == nil; item, err = stream.Next() {
		if first == nil {
			first = item.Object
		}
	}
	require.NotNil(t, first)
	require.NoError(t, stream.Close())
	return first
}

func heapBytes() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

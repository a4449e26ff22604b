package view

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestStreamMatchesTheStats(t *testing.T) {
	t.Parallel()
	r := start(t, Options{}, 50, nil)
	next := r.stream(t, "")
	hello := next().Hello
	require.NotNil(t, hello)
	require.Equal(t, "pods", hello.Name)
	require.Len(t, hello.Boxes, 7)
	require.Eventually(t, func() bool { return r.queue.Stats().Dones == 50 }, time.Minute, 5*time.Millisecond)
	next() // This frame may have been made before the change.
	f := next().Frame
	require.NotNil(t, f)
	boxes := map[string]Box{}
	for _, b := range f.Boxes {
		boxes[b.ID] = b
	}
	require.Len(t, boxes, 7)
	status, queue := r.informer.Status(), r.queue.Stats()
	require.EqualValues(t, 50, boxes["store"].Numbers["objects"])
	require.EqualValues(t, status.Store.Added, boxes["store"].Numbers["added"])
	require.EqualValues(t, status.Queue.Queued, boxes["fifo"].Numbers["queued"])
	require.EqualValues(t, status.Handlers[0].Delivered, boxes["handlers"].Numbers["delivered"])
	require.EqualValues(t, queue.Adds, boxes["queue"].Numbers["adds"])
	require.EqualValues(t, queue.Dones, boxes["workers"].Numbers["done"])
	require.Equal(t, "watching", boxes["reflector"].State)
	require.Equal(t, status.Store.ResourceVersion, f.Versions.Store)
	require.Empty(t, f.Problems)
	for _, n := range hello.Numbers {
		if n.Kind == "time" {
			require.Contains(t, boxes[n.Box].Times, n.ID)
		}
	}
}

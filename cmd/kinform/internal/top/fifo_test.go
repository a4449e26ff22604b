package top

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/view"
)

// fifoPictureAt sends a frame to a shelf. The frame has a number of waiting keys, and events.
func fifoPictureAt(f *fifoPicture, at, keys float64, events ...view.Event) {
	box := &view.Box{ID: "fifo", Numbers: map[string]float64{"keys": keys}}
	f.frame(&frameData{frame: &view.Frame{At: at, Events: events}, boxes: map[string]*view.Box{"fifo": box}})
}

func put(key, kind string) view.Event { return view.Event{What: "delta", Key: key, Kind: kind} }

// The paused informer holds one change, which is not shown as waiting. Later changes do wait, even
// changes of the same object.
func TestDeltasOfThePausedInformerAreTaken(t *testing.T) {
	f := newFIFOPicture()
	fifoPictureAt(f, 100, 0, put("ns/held", "Updated"))
	require.Zero(t, f.objects["ns/held"].taken, "the numbers of a frame are older than its events")
	fifoPictureAt(f, 200, 0)
	require.NotZero(t, f.objects["ns/held"].taken)
	fifoPictureAt(f, 1000, 0, put("ns/new", "Added"))
	fifoPictureAt(f, 1100, 2, put("ns/held", "Updated"))
	require.Zero(t, f.objects["ns/new"].taken)
	require.Zero(t, f.objects["ns/held"].taken)
	require.Len(t, f.objects["ns/held"].deltas, 1, "the held one is not among those that wait")
}

// A tombstone stays on the screen long enough to read, even if the informer takes it at once.
// Waiting trays have precedence over empty ones.
func TestTombstonesStayVisible(t *testing.T) {
	f := newFIFOPicture()
	var gone []view.Event
	for n := range maxFIFOObjects {
		gone = append(gone, put(fmt.Sprintf("ns/gone-%d", n), "Deleted"))
	}
	fifoPictureAt(f, 0, maxFIFOObjects, append(gone, view.Event{What: "batch"})...)
	fifoPictureAt(f, 8000, 0)
	require.Len(t, f.objects, maxFIFOObjects)
	fifoPictureAt(f, 8100, 1, put("ns/new", "Added"))
	require.Contains(t, f.objects, "ns/new")
	require.Len(t, f.objects, maxFIFOObjects)
	fifoPictureAt(f, 14_000, 1)
	require.Len(t, f.objects, 1)
}

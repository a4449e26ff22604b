package top

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/view"
)

// shelfAt sends a frame to a shelf. The frame has a number of waiting keys, and events.
func shelfAt(f *shelf, at, keys float64, events ...view.Event) {
	box := &view.Box{ID: "fifo", Numbers: map[string]float64{"keys": keys}}
	f.frame(&seen{frame: &view.Frame{At: at, Events: events}, boxes: map[string]*view.Box{"fifo": box}})
}

func put(key, kind string) view.Event { return view.Event{What: "delta", Key: key, Kind: kind} }

// The paused informer holds one change, which is not shown as waiting. Later changes do wait, even
// changes of the same object.
func TestWhatTheInformerHoldsDoesNotWait(t *testing.T) {
	f := newShelf()
	shelfAt(f, 100, 0, put("ns/held", "Updated"))
	require.Zero(t, f.trays["ns/held"].taken, "the numbers of a frame are older than its events")
	shelfAt(f, 200, 0)
	require.NotZero(t, f.trays["ns/held"].taken)
	shelfAt(f, 1000, 0, put("ns/new", "Added"))
	shelfAt(f, 1100, 2, put("ns/held", "Updated"))
	require.Zero(t, f.trays["ns/new"].taken)
	require.Zero(t, f.trays["ns/held"].taken)
	require.Len(t, f.trays["ns/held"].deltas, 1, "the held one is not among those that wait")
}

// A tombstone stays on the screen long enough to read, even if the informer takes it at once.
// Waiting trays have precedence over empty ones.
func TestTombstonesStay(t *testing.T) {
	f := newShelf()
	var gone []view.Event
	for n := range mostTrays {
		gone = append(gone, put(fmt.Sprintf("ns/gone-%d", n), "Deleted"))
	}
	shelfAt(f, 0, mostTrays, append(gone, view.Event{What: "batch"})...)
	shelfAt(f, 8000, 0)
	require.Len(t, f.trays, mostTrays)
	shelfAt(f, 8100, 1, put("ns/new", "Added"))
	require.Contains(t, f.trays, "ns/new")
	require.Len(t, f.trays, mostTrays)
	shelfAt(f, 14_000, 1)
	require.Len(t, f.trays, 1)
}

package top

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/view"
)

// follow returns a journey that has received the events of one change. The argument is the name of
// the queue.
func follow(queue string) *journeyPicture {
	j := newJourneyPicture()
	j.frame(&frameData{queue: queue, frame: &view.Frame{At: 100, Events: []view.Event{
		{What: "received", Key: "ns/a", Kind: "MODIFIED", Version: "7", At: -9}, {What: "delta", Key: "ns/a", At: -8}, {What: "batch", At: -7},
		{What: "delivered", Key: "ns/a", Component: "h", Kind: "Updated", Cause: "watching", At: -4, Ran: 0.001, Wait: 0.001},
	}}})
	return j
}

func TestJourneyWithoutAQueueEndsAtTheHandler(t *testing.T) {
	j := follow("")
	require.Len(t, j.ended, 1)
	require.Empty(t, j.open)
	require.InDelta(t, 5, j.ended[0].total(), 1e-9)
	var shown strings.Builder
	for _, l := range j.lines(100, 20) {
		for _, s := range l {
			shown.WriteString(s.text)
		}
	}
	require.Contains(t, shown.String(), "in the handler")
	require.NotContains(t, shown.String(), "with a worker")

	require.Empty(t, follow("pods").ended, "the key goes on to a worker")
}

package lab_test

import (
	"bytes"
	"context"
	"flag"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/view"
	"github.com/kinform/kinform/view/lab"
)

var update = flag.Bool("update", false, "record view/testdata/relist.jsonl anew")

const fixture = "../testdata/relist.jsonl"

// Objects are deleted while the watch is cut, so the reflector has to relist. A new recording and
// the committed recording both show this.
func TestRecordingShowsARelist(t *testing.T) {
	inBubble(t, lab.Options{Pods: 6, Workers: 2, View: view.Options{FrameInterval: 250 * time.Millisecond}}, func(t *testing.T, b harness) {
		ctx, stop := context.WithCancel(t.Context())
		var file bytes.Buffer
		ended := make(chan error, 1)
		go func() { ended <- b.View().Record(ctx, &file, "") }()
		time.Sleep(time.Second)
		b.press("burst", "n", "2")
		b.press("vanish", "n", "2")
		time.Sleep(5 * time.Second)
		stop()
		require.NoError(t, <-ended)
		synctest.Wait()
		requireRelist(t, file.Bytes())
		if *update {
			require.NoError(t, os.WriteFile(fixture, file.Bytes(), 0o600))
		}
	})
	committed, err := os.ReadFile(fixture)
	require.NoError(t, err)
	requireRelist(t, committed)
}

func requireRelist(t *testing.T, recording []byte) {
	t.Helper()
	hello, frames, err := view.ReadRecording(bytes.NewReader(recording))
	require.NoError(t, err)
	require.Equal(t, "pods", hello.Name)
	happened := map[string]int{}
	var objects []float64
	for f, err := range frames {
		require.NoError(t, err)
		for _, box := range f.Boxes {
			if box.ID == "store" {
				objects = append(objects, box.Numbers["objects"])
			}
		}
		for _, e := range f.Events {
			happened[e.What+" "+e.Kind]++
		}
	}
	require.Equal(t, 2, happened["received MODIFIED"])
	require.Equal(t, 4, happened["item unchanged"], "objects that the store has in the same version must be unchanged")
	require.Equal(t, 2, happened["delivered Deleted"], "the relist must deliver the missed deletions")
	require.Zero(t, happened["received DELETED"])
	require.Equal(t, 6.0, objects[0])
	require.Equal(t, 4.0, objects[len(objects)-1])
}

package top

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/internal/testing/testsize"
	"github.com/kinform/kinform/view"
)

// fixture is the recording of package view, in which a relist finds that two objects are gone.
const fixture = "../../../../view/testdata/relist.jsonl"

// staticScreen returns a screen that has received all frames of a recording, as if they were live.
func staticScreen(t require.TestingT, width, height int) *screen {
	file, err := os.Open(fixture)
	require.NoError(t, err)
	defer file.Close()
	hello, frames, err := view.ReadRecording(file)
	require.NoError(t, err)
	page, err := newPage("http://localhost/", nil)
	require.NoError(t, err)
	page.token = "x"
	s := newScreen(page, time.Unix(0, 0))
	s.width, s.height = width, height
	s.choose("pods")
	hello.Actions = nil // Most tests are about a program without a laboratory.
	s.handleUpdate(streamUpdate{hello: hello})
	for f, err := range frames {
		require.NoError(t, err)
		s.handleUpdate(streamUpdate{frame: f})
	}
	return s
}

func (s *screen) asString() string {
	var b strings.Builder
	for _, l := range s.draw() {
		b.WriteString(l.String() + "\n")
	}
	return b.String()
}

func TestEveryLineIsAsWideAsTheScreen(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {60, 20}, {160, 48}, {121, 37}, {300, 100}, {20, 5}, {1, 1}, {0, 0}} {
		s := staticScreen(t, size[0], size[1])
		for _, key := range []string{"esc", "t", "t", "?", "down", "?", "i", "i", "m", "esc", "1", "2", "3", "4", "5", "6", "7", "up", "enter", "space"} {
			s.key(key)
			all := s.draw()
			require.Len(t, all, size[1], "%v %s", size, key)
			for _, l := range all {
				require.Equal(t, max(size[0], 0), l.width(), "%v %s: %s", size, key, l)
			}
		}
	}
}

func TestMissedFramesAreCounted(t *testing.T) {
	s := staticScreen(t, 160, 48)
	require.Zero(t, s.missed)
	f := *s.latest
	f.Seq += 6
	s.handleUpdate(streamUpdate{frame: &f})
	require.Equal(t, uint64(5), s.missed)
	require.Contains(t, s.asString(), "frames missed: 5")
}

func TestLinesOfAnEarlierStreamAreIgnored(t *testing.T) {
	s := staticScreen(t, 80, 24)
	s.follow = func(string) int { return 7 }
	s.choose("other")
	s.handleUpdate(streamUpdate{stream: 6, lost: "late", hello: &view.Hello{Name: "late"}})
	require.Contains(t, s.asString(), "other  connecting")
	s.handleUpdate(streamUpdate{stream: 7, lost: "gone"})
	s.tick(s.now.Add(3 * time.Second))
	require.Contains(t, s.asString(), " LOST  gone; the numbers are 3 s old")
}

func TestSilentStreamIsReported(t *testing.T) {
	s := staticScreen(t, 80, 24)
	require.Contains(t, s.asString(), "● live")
	s.tick(s.now.Add(4 * time.Second))
	require.Contains(t, s.asString(), "no news for 4 s")
}

// If there are several queues, the user can select one.
func TestNextQueue(t *testing.T) {
	s := staticScreen(t, 120, 40)
	f := *s.latest
	f.Boxes = append(slices.Clone(f.Boxes), view.Box{ID: "queue", Name: "second", Numbers: map[string]float64{"ready": 4711}}, view.Box{ID: "workers", Name: "second"})
	s.handleUpdate(streamUpdate{frame: &f})
	require.NotContains(t, s.asString(), "4,711")
	s.key("v")
	require.Contains(t, s.asString(), "6 Workqueue second")
	require.Contains(t, s.asString(), "4,711")
	s.key("v")
	require.Contains(t, s.asString(), "6 Workqueue pods")
}

func TestIndexHasProblemsOnTop(t *testing.T) {
	s := staticScreen(t, 120, 24)
	var all view.Pipelines
	for n := range 12 {
		all.Pipelines = append(all.Pipelines, view.Pipeline{Name: fmt.Sprintf("p%02d", n), Kind: "informer", State: "watching", Objects: n, Events: 10})
	}
	all.Pipelines[7].Problems = []string{"not synced: listing", "1 failure"}
	var chosen []string
	s.follow = func(name string) int { chosen = append(chosen, name); return 1 }
	s.begin(all)
	require.Equal(t, indexMode, s.mode, "a page with many pipelines must begin with the index")
	all.Pipelines[3].Events = 30
	s.now = s.now.Add(2 * time.Second)
	s.handleResult(indexResult{pipelines: all})
	rows := strings.Split(s.asString(), "\n")
	require.Regexp(t, `^✗ wrong p07 .* not synced: listing; `, rows[4])
	require.Regexp(t, `^✓ fine  p00 `, rows[5])
	require.Regexp(t, `p03 .* 10/s `, s.asString())
	s.key("home")
	require.Contains(t, s.asString(), "\n✗ not synced: listing; 1 failure", "the index must show the problems of the selected pipeline in full")
	s.key("down")
	s.key("down")
	s.key("enter")
	require.Equal(t, []string{"p01"}, chosen)
	require.Equal(t, boxesMode, s.mode)

	s.key("i")
	s.handleResult(indexResult{err: context.DeadlineExceeded})
	require.Contains(t, s.asString(), "✗ context deadline exceeded")
	asked := 0
	s.start = func(func(context.Context) any) { asked++ }
	for range 30 {
		s.tick(s.now.Add(100 * time.Millisecond))
	}
	require.Equal(t, 1, asked, "only one request for the index may be in progress")
}

// The menu remembers the input values of an action. It does not send an invalid value.
func TestMenu(t *testing.T) {
	s := staticScreen(t, 100, 30)
	s.hello.Actions = []view.Action{
		{ID: "all", Label: "All", Help: "does all", Key: "y"},
		{ID: "two", Box: "workers", Label: "Two", Key: "z", Help: "takes two", Inputs: []view.Input{{ID: "how", Label: "how", Default: "a", Choices: []string{"a", "b"}}, {ID: "n", Label: "n", Default: "5", Min: 1, Max: 9}}},
		{ID: "hidden", Box: "server", Label: "Hidden", Key: "t", Help: "has a key of the screen"},
	}
	s.menu.load(s.hello)
	started := 0
	s.start = func(do func(context.Context) any) { started++ }
	s.key("t")
	require.Equal(t, tableMode, s.mode)
	s.key("y")
	require.Equal(t, 1, started)
	for _, key := range []string{"7", "m", "enter", "right", "enter", "backspace", "7", "enter"} {
		s.key(key)
	}
	require.Equal(t, 2, started)
	require.Equal(t, map[string]string{"how": "b", "n": "7"}, s.menu.values["two"])
	for _, key := range []string{"m", "enter", "left", "down", "right", "right", "right", "right", "8", "enter"} {
		s.key(key)
	}
	require.Equal(t, 2, started, "the invalid number 98 must not be sent")
	require.Contains(t, s.asString(), "✗ Two: n must be a whole number from 1 to 9")
	for _, key := range []string{"m", "enter", "down", "right", "esc", "t", "m"} {
		// Key t does nothing in the menu.
		s.key(key)
	}
	require.Equal(t, "9", s.menu.values["two"]["n"])
	require.Equal(t, boxesMode, s.mode)
	s.key("z")
	require.Equal(t, 3, started)
	s.handleResult(actionResult{message: "two were done"})
	require.Contains(t, s.asString(), "two were done")
	s.tick(s.now.Add(time.Minute))
	require.NotContains(t, s.asString(), "two were done")

	s.page.token = ""
	s.key("y")
	require.Equal(t, 3, started)
	require.Contains(t, s.asString(), "✗ To press buttons, give the printed address with the code at its end, or --token-file.")
}

// The screen takes no more memory for hours of frames than for a minute.
func TestMemoryIsBounded(t *testing.T) {
	s := staticScreen(t, 80, 24)
	template, err := json.Marshal(s.latest)
	require.NoError(t, err)
	sizes := func() (n int) {
		n += len(s.recent.all) + len(s.history.series)
		for _, lane := range s.recent.strips {
			n += len(lane)
		}
		return n
	}
	whats := []string{"received", "delta", "delivered", "queued", "merged", "taken", "failed", "retried", "item", "phase", "page", "batch"}
	kinds := []string{"ADDED", "DELETED", "Deleted", "decoded", "listing"}
	most := 0
	for n := range testsize.Scale(4000, 1500) {
		var f view.Frame
		require.NoError(t, json.Unmarshal(template, &f))
		f.Seq, f.At = f.Seq+uint64(n), f.At+float64(n)*100
		f.Events = nil
		for e := range 30 {
			f.Events = append(f.Events, view.Event{What: whats[(n+e)%len(whats)], Kind: kinds[(n+e)%len(kinds)], Key: fmt.Sprintf("ns/never-again-%d-%d", n, e), Component: "pods", Wait: 3600, Cause: "relist"})
		}
		s.handleUpdate(streamUpdate{frame: &f})
		if n%100 == 0 {
			s.key(string("1234567"[n/100%7]))
			s.draw()
		}
		most = max(most, sizes())
	}
	require.Less(t, most, 600)
}

func TestFollowerKeepsOnlyTheNewestFrame(t *testing.T) {
	f := newFollower(nil)
	f.put(func(h *streamUpdate) { h.hello = &view.Hello{Name: "a"} })
	for n := range 100 {
		f.put(func(h *streamUpdate) { h.frame = &view.Frame{Seq: uint64(n)} })
	}
	h := f.take()
	require.Equal(t, "a", h.hello.Name)
	require.Equal(t, uint64(99), h.frame.Seq)
	require.Len(t, f.more, 1)
	h = f.take()
	require.Nil(t, h.hello)
	require.Nil(t, h.frame)
}

// The list of events has the events of skipped frames.
func TestEventsOfMissedFramesAreKept(t *testing.T) {
	var f *view.Frame
	for n := range 500 {
		f = mergeFrames(f, &view.Frame{Seq: uint64(n), At: float64(100 * n), Events: []view.Event{{What: "taken", At: -40}, {What: "done", At: -10, Count: n}}})
	}
	require.Len(t, f.Events, 1000)
	for n, e := range f.Events {
		if e.What == "done" {
			require.Equal(t, n/2, e.Count)
			require.Equal(t, float64(100*e.Count-10), f.At+e.At)
		}
	}
	f = mergeFrames(f, &view.Frame{At: f.At + 100, Events: []view.Event{{What: "last"}}})
	require.Len(t, f.Events, 1000)
	require.Equal(t, "last", f.Events[999].What)
	require.Empty(t, mergeFrames(f, &view.Frame{At: 3}).Events, "events of another stream must be dropped")
}

func TestTextHasTheLastEvents(t *testing.T) {
	require.Contains(t, staticScreen(t, 100, 24).asText(), "s d a worker is done with ns-2/pod-000005\n")
}

//go:build unix

package top

import (
	"context"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/view"
	"github.com/kinform/kinform/view/lab"
)

// harness is a laboratory with a page, and a terminal that shows the page.
type harness struct {
	*emulated
	lab *lab.Lab
}

func newHarness(t *testing.T, width, height int, opts lab.Options) harness {
	t.Helper()
	l, err := lab.New(opts)
	require.NoError(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	served, ran := make(chan error, 1), make(chan error, 1)
	go func() { served <- l.View().Serve(ctx, listener) }()
	go func() { ran <- l.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-served)
		require.NoError(t, <-ran)
	})
	e := top(t, width, height, l.View().Address(fmt.Sprintf("http://%v/", listener.Addr())))
	e.has("● live")
	return harness{e, l}
}

// frame returns a frame of the laboratory. It does not use the terminal.
func (b harness) frame() *view.Frame {
	b.t.Helper()
	ctx, stop := context.WithCancel(b.t.Context())
	defer stop()
	_, frames, err := b.lab.View().Frames(ctx, "")
	require.NoError(b.t, err)
	for f := range frames {
		return f
	}
	require.FailNow(b.t, "no frame")
	return nil
}

func (b harness) number(box, id string) float64 {
	for _, shown := range b.frame().Boxes {
		if shown.ID == box {
			return shown.Numbers[id]
		}
	}
	return -1
}

// becomes waits until a number of the program meets a condition.
func (b harness) becomes(box, id string, is func(float64) bool) {
	b.t.Helper()
	require.Eventually(b.t, func() bool { return is(b.number(box, id)) }, patience, 10*time.Millisecond, "%s.%s\n%s", box, id, b.text())
}

// moving reports whether a number changes even if nothing happens in the pipeline.
func moving(n view.Number) bool {
	return n.Unit == "s" || n.ID == "bookmarks" || n.ID == "received" || n.ID == "requests"
}

func TestScreenMatchesTheStats(t *testing.T) {
	b := newHarness(t, 160, 96, lab.Options{Pods: 12, Workers: 3})
	b.press("nnu") // creates 10 pods, updates 5
	b.becomes("workers", "done", func(n float64) bool { return n >= 22 && n == b.number("queue", "adds") })
	f := b.frame()
	hello, _, err := b.lab.View().Frames(t.Context(), "")
	require.NoError(t, err)

	// The table has every number.
	b.press("t")
	shown := b.until("the numbers of the table", func(shown string) bool { return tableSays(shown, hello, f) == "" })
	require.Contains(t, shown, "objects                                           22")
	parts := b.lab.View().Pipelines()
	require.Equal(t, 22, parts.Pipelines[0].Objects)

	// Each number is also in its box.
	b.press("t")
	b.until("the numbers of the boxes", func(string) bool { return boxesSay(b.rows(), hello, f) == "" })

	// The full view of a box also has its numbers.
	for n, box := range hello.Boxes {
		b.press(fmt.Sprint(n + 1))
		b.until("the numbers of "+box.Title, func(shown string) bool {
			_, panel, ok := strings.Cut(shown, fmt.Sprintf("── %d %s ", n+1, box.Title))
			return ok && numbersIn(panel, hello, f, box.ID) == ""
		})
	}
}

// tableSays returns the first number that the table lacks or shows with another value, or "".
func tableSays(shown string, hello *view.Hello, f *view.Frame) string {
	_, table, ok := strings.Cut(shown, "longest\n")
	if !ok {
		return "no table"
	}
	rows := strings.Split(table, "\n")
	n := 0
	for _, number := range hello.Numbers {
		if n >= len(rows) {
			return "rows"
		}
		row := strings.TrimSpace(rows[n])
		n++
		if moving(number) {
			continue
		}
		value := valueIn(number, f)
		_, after, ok := strings.Cut(row, number.Label)
		if !ok || len(strings.Fields(after)) == 0 || !strings.HasPrefix(strings.TrimSpace(after), value) {
			return number.Label + " is " + value + ", and shown is " + row
		}
	}
	return ""
}

func valueIn(number view.Number, f *view.Frame) string {
	for _, box := range f.Boxes {
		if value, ok := box.Numbers[number.ID]; ok && box.ID == number.Box {
			return valueOf(number, value)
		}
	}
	return unknown
}

// numbersIn returns the first number of a box that is missing in a text, or "".
func numbersIn(shown string, hello *view.Hello, f *view.Frame, box string) string {
	words := strings.Join(strings.Fields(strings.ReplaceAll(shown, "│", " ")), " ")
	for _, number := range hello.Numbers {
		value := valueIn(number, f)
		if number.Box != box || moving(number) || value == unknown {
			continue
		}
		found := false
		for rest := words; !found; {
			_, after, ok := strings.Cut(rest, number.Label+" ")
			if !ok {
				return number.Label + " is " + value
			}
			after = strings.TrimLeft(after, " "+string(sparkRunes))
			found = after == value || strings.HasPrefix(after, value+" ")
			rest = after
		}
	}
	return ""
}

// boxesSay splits a screen into boxes, and returns the first number that is missing in its box, or
// "".
func boxesSay(rows []string, hello *view.Hello, f *view.Frame) string {
	for n, box := range hello.Boxes {
		title := fmt.Sprintf("┌%d %s ", n+1, box.Title)
		top, at := -1, 0
		for y, row := range rows {
			if x := strings.Index(row, title); x >= 0 {
				top, at = y, cells(row[:x])
			}
		}
		if top < 0 {
			return "no box " + box.Title
		}
		wide := slices.Index([]rune(rows[top])[at:], '┐')
		var inside strings.Builder
		for _, row := range rows[top+1:] {
			runes := []rune(row)
			if len(runes) < at+wide || runes[at] != '│' {
				break
			}
			inside.WriteString(string(runes[at+1:at+wide]) + "\n")
		}
		if wrong := numbersIn(inside.String(), hello, f, box.ID); wrong != "" {
			return box.Title + ": " + wrong
		}
	}
	return ""
}

func TestActionsTakeEffect(t *testing.T) {
	b := newHarness(t, 120, 45, lab.Options{Pods: 4, Workers: 2})
	is := func(want float64) func(float64) bool { return func(n float64) bool { return n == want } }
	b.becomes("store", "objects", is(4))
	b.press("n")
	b.has("5 pods were created")
	b.becomes("store", "objects", is(9))
	b.press("x")
	b.has("5 pods were deleted")
	b.becomes("store", "objects", is(4))

	// An action from the list, with a number: 12 pods.
	b.press("m")
	b.has("What the laboratory can do", "Drop the watch", "Compare lists", "Turns fail")
	b.press(b.pick("create"))
	b.has("how many 5_")
	b.press("\x7f12" + enter)
	b.has("12 pods were created")
	b.becomes("store", "objects", is(16))

	// A stage is paused, makes one step, and continues. The arrows select the stage.
	b.press("m")
	b.has("↑ ↓ choose")
	b.press(b.pick("pause") + right + right + right + enter)
	b.has("workers: the stage is paused", "paused: workers")
	done := b.number("workers", "done")
	b.press("n")
	b.becomes("queue", "ready", func(n float64) bool { return n > 0 })
	before := b.number("workers", "done")
	require.Equal(t, done, before)
	b.press("m" + b.pick("step") + right + right + right + enter)
	b.has("workers: the stage takes one more")
	b.becomes("workers", "done", is(done+1))
	b.press("m" + b.pick("resume") + right + right + right + enter)
	b.has("workers: the stage goes on")
	b.becomes("workers", "done", is(done+12))

	// The watch is cut by an action of the selected box.
	watches := b.number("reflector", "watches")
	b.press("2")
	b.has("── 2 Reflector")
	b.press("m")
	b.has("cuts the connection of the watch")
	b.press(enter)
	b.has("watches that were cut: 1")
	b.becomes("reflector", "watches", is(watches+1))

	// An invalid number is refused before it is sent.
	b.press("m" + b.pick("create") + "\x7f\x7f\x7f" + "9999999" + enter)
	b.has("✗ Create pods: n must be a whole number from 1 to 5000")

	// A long result has several lines.
	b.press("m")
	b.has("↑ ↓ choose")
	b.press(b.pick("compare"))
	b.has("pods 2000_")
	b.press("\x7f\x7f\x7f\x7f150" + enter)
	b.until("each way of listing", func(shown string) bool {
		words := strings.Join(strings.Fields(shown), " ")
		return strings.Contains(words, "list of 150 pods: the first after ") && strings.Contains(words, "; paged of 150 pods: ") && strings.Contains(words, "; watchlist of 150 pods: ")
	})

	// The action resets the laboratory to its initial state.
	b.press("0")
	b.has("everything is as at the beginning")
}

// pick returns the keys that select an action in the list.
func (b harness) pick(action string) string {
	n := slices.IndexFunc(b.lab.Actions(), func(a view.Action) bool { return a.ID == action })
	return home + strings.Repeat(down, n) + enter
}

func TestEscapeGoesBack(t *testing.T) {
	b := newHarness(t, 120, 45, lab.Options{Pods: 6, Workers: 1})
	b.press("2")
	b.has("── 2 Reflector")
	b.press("m\x1b[F" + enter) // selects the last stage: workers
	b.has("Workers", "how many 4_")
	b.press(escape)
	b.has("Esc goes back")
	b.press(escape)
	b.has("── 2 Reflector")
	b.press(escape)
	b.has("── the last events")
}

func TestFreezeAndHelp(t *testing.T) {
	b := newHarness(t, 100, 40, lab.Options{Pods: 3})
	b.press(" ")
	b.has("HELD")
	_, err := b.lab.Do(t.Context(), "create", map[string]string{"n": "40"})
	require.NoError(t, err)
	b.becomes("store", "objects", func(n float64) bool { return n == 43 })
	require.NotRegexp(t, `objects +43`, b.text())
	b.press(" ")
	b.until("what the store has", func(shown string) bool {
		return strings.Contains(shown, "● live") && regexp.MustCompile(`objects +43`).MatchString(shown)
	})
	b.press("?")
	b.has("Keys", "resync: no change", "x Delete pods", "Ctrl-C")
	b.press("?")
	b.has("── the last events")
	b.press("i")
	b.has("All pipelines", "✓ fine", "informer", "queue", "What is wrong")
	b.press(down + enter)
	b.has("6 Workqueue pods", "● live")
	b.press("l")
	b.has("The guided tour is on the page: kinform lab --open")
	b.press("v")
	b.has("There is no other queue here.")
}

package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/internal/testing/testsize"
)

// demo runs "kinform demo" with its flags.
func demo(ctx context.Context, out io.Writer, flags ...string) error {
	cmd := Command()
	cmd.SetArgs(flags)
	cmd.SetOut(out)
	cmd.SetErr(io.Discard)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	return cmd.ExecuteContext(ctx)
}

// line is any line of --output json.
type line struct {
	Type            string
	Event           string
	Cause           string
	Key             string
	ResourceVersion string
	Merged          int
	Fault           string
	StagesUS        map[string]int64 `json:"stages_us"`
	LatencyUS       map[string]int64 `json:"latency_us"` // of the summary
	Pods            int

	// of the summary
	Objects    *int
	Events     *int
	Enqueued   *int
	Reconciled *int
	Relists    *int
	Stale      *int
}

// parse parses the lines. The first line must have type started, and the last must be the summary.
// between has the lines between these two.
func parse(t *testing.T, out string) (between []line, summary line) {
	t.Helper()
	var all []line
	for text := range strings.Lines(out) {
		var l line
		require.NoError(t, json.Unmarshal([]byte(text), &l), text)
		all = append(all, l)
	}
	require.GreaterOrEqual(t, len(all), 2)
	require.Equal(t, "started", all[0].Type)
	summary = all[len(all)-1]
	require.Equal(t, "summary", summary.Type)
	for _, n := range []*int{summary.Objects, summary.Events, summary.Enqueued, summary.Reconciled, summary.Relists, summary.Stale} {
		require.NotNil(t, n, "the summary must have every field, even if it is 0")
	}
	return all[1 : len(all)-1], summary
}

// eachPipeline runs a test with both pipelines.
func eachPipeline(t *testing.T, test func(t *testing.T, flag string)) {
	t.Parallel()
	for _, flag := range []string{"--plain=false", "--plain=true"} {
		t.Run(flag, func(t *testing.T) {
			t.Parallel()
			test(t, flag)
		})
	}
}

func TestRunEndsWithAConsistentSummary(t *testing.T) { eachPipeline(t, runEndsWithAConsistentSummary) }

func runEndsWithAConsistentSummary(t *testing.T, pipeline string) {
	var out bytes.Buffer
	require.NoError(t, demo(t.Context(), &out, "--output", "json", "--for", "1s", "--pods", "300", "--churn", "200", pipeline))
	between, summary := parse(t, out.String())
	require.Equal(t, "synced", between[0].Type)
	require.Equal(t, 300, *between[0].Objects)

	changes, merged, objects := 0, 0, 300
	for _, l := range between {
		if l.Type != "event" {
			continue
		}
		changes += 1 + l.Merged
		merged += l.Merged
		switch l.Event {
		case "Added":
			objects++
		case "Deleted":
			objects--
		}
		require.Equal(t, "watch", l.Cause)
		require.Regexp(t, `^ns-\d+/(pod|churn-0)-\d{6}$`, l.Key)
		require.NotEmpty(t, l.ResourceVersion)
		stages := l.StagesUS["fifo"] + l.StagesUS["mailbox"] + l.StagesUS["workqueue"] + l.StagesUS["worker"]
		require.InDelta(t, l.StagesUS["total"], stages, 4, "the stages must add up to the total, except for rounding")
	}
	require.Greater(t, changes, 20)
	require.Equal(t, 300+changes, *summary.Events, "the summary must count every event")
	if merged == 0 { // Only the last of merged events is shown.
		require.Equal(t, objects, *summary.Objects)
	}
	require.LessOrEqual(t, *summary.Enqueued, *summary.Events)
	require.Equal(t, *summary.Enqueued, *summary.Reconciled)
	require.Zero(t, *summary.Relists)
	require.Zero(t, *summary.Stale)
	require.Positive(t, summary.LatencyUS["median"], "JSON must have the latencies of the text output")
	require.GreaterOrEqual(t, summary.LatencyUS["p99"], summary.LatencyUS["median"])
}

func TestRunWithFaultsEndsInTheServersState(t *testing.T) {
	eachPipeline(t, runWithFaultsEndsInTheServersState)
}

func runWithFaultsEndsInTheServersState(t *testing.T, pipeline string) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	// The pipeline meets a fault sooner or later, depending on the machine. So the run ends when
	// certain lines have been written, and not after a fixed time.
	out := &counter{do: func(seen map[string]int) {
		if seen["fault"] >= 2 && seen["error"] >= 2 && seen["event"] > 20 && seen["relist"] > 0 {
			cancel()
		}
	}}
	require.NoError(t, demo(ctx, out, "--output", "json", "--for", "1m", "--pods", "300", "--churn", "200", "--faults", pipeline))
	between, summary := parse(t, out.String())
	seen := map[string]int{}
	for _, l := range between {
		seen[l.Type]++
	}
	require.GreaterOrEqual(t, seen["fault"], 2)
	require.GreaterOrEqual(t, seen["error"], 2)
	require.Greater(t, seen["event"], 20)
	require.Equal(t, 1, seen["draining"])
	require.Positive(t, *summary.Relists, "a compaction must cause a relist")
	require.Equal(t, *summary.Enqueued, *summary.Reconciled)
	require.Zero(t, *summary.Stale)
}

func TestRunWithoutPodsAndWithoutChurn(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.NoError(t, demo(t.Context(), &out, "--output", "json", "--for", "100ms", "--pods", "0", "--churn", "0"))
	_, summary := parse(t, out.String())
	require.Zero(t, *summary.Objects)
	require.Zero(t, *summary.Events)
}

// waiter calls the function do when a text has been written.
type waiter struct {
	bytes.Buffer
	text string
	do   func()
}

func (w *waiter) Write(p []byte) (int, error) {
	if strings.Contains(string(p), w.text) {
		w.do()
	}
	return w.Buffer.Write(p)
}

// counter calls the function do after each line, with the number of lines of each type and of each
// cause.
type counter struct {
	bytes.Buffer
	seen map[string]int
	do   func(seen map[string]int)
}

func (c *counter) Write(p []byte) (int, error) {
	var l line
	if json.Unmarshal(p, &l) == nil {
		if c.seen == nil {
			c.seen = map[string]int{}
		}
		c.seen[l.Type]++
		c.seen[l.Cause]++
		c.do(c.seen)
	}
	return c.Buffer.Write(p)
}

func TestCancelDrainsWithoutAnError(t *testing.T) {
	t.Parallel()
	all := [][]string{{"--faults"}, nil, {"--for", "1h"}}
	for _, flags := range all[:testsize.Scale(len(all), 1)] {
		ctx, cancel := context.WithCancel(t.Context())
		out := &waiter{text: `"event"`, do: cancel}
		require.NoError(t, demo(ctx, out, append(flags, "--output", "json", "--churn", "2000")...))
		between, summary := parse(t, out.String())
		require.True(t, slices.ContainsFunc(between, func(l line) bool { return l.Type == "draining" }))
		require.Greater(t, *summary.Events, 1000)
		require.Zero(t, *summary.Stale)
	}
}

func TestCancelBeforeTheFirstListIsAnError(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	out := &waiter{text: "started", do: cancel}
	err := demo(ctx, out, "--output", "json", "--for", "1s")
	require.EqualError(t, err, "ended during the first list, after 0 of 1000 pods")
	_, summary := parse(t, out.String())
	require.Zero(t, *summary.Events)
}

// endsWhenAwaited is a context that ends when something waits for its end. The first wait of a run
// is the wait for the first list.
type endsWhenAwaited struct {
	context.Context
	stop func()
}

func (c endsWhenAwaited) Done() <-chan struct{} {
	c.stop()
	return c.Context.Done()
}

func TestCancelDuringTheFirstListIsAnError(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	var out bytes.Buffer
	err := run(endsWhenAwaited{ctx, cancel}, Options{Pods: testsize.Scale(10_000, 2_000), Namespaces: 20, Workers: 4}, newJSONReport(&out))
	require.ErrorContains(t, err, "ended during the first list, after ")
	_, summary := parse(t, out.String())
	require.Positive(t, *summary.Stale)
}

// limitedWriter is a writer that accepts this many writes.
type limitedWriter int

func (n *limitedWriter) Write(p []byte) (int, error) {
	if *n--; *n < 0 {
		return 0, errors.New("disk full")
	}
	return len(p), nil
}

func TestWriteErrorEndsTheRun(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"json", "text"} {
		room := limitedWriter(4)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		err := demo(ctx, &room, "--output", format, "--churn", "100")
		require.EqualError(t, err, "cannot write: disk full")
		require.NoError(t, ctx.Err(), "the run must end without the context")
		cancel()
	}
}

func TestTextOutput(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.NoError(t, demo(t.Context(), &out, "--for", "1500ms", "--pods", "50", "--faults"))
	for _, want := range []string{
		"An API server with 50 pods in 20 namespaces starts in this process:\nhttp://127.0.0.1:",
		"\nSynced: 50 pods are listed, stored, handled and enqueued after ",
		"EVENT   POD                  VERSION   FIFO   MAIL  QUEUE   WORK  TOTAL\n",
		" Updated ns-", " ** fault: every watch is cut off\n", " !! watching failed, next attempt in ",
		"\n\nThe churn has stopped. Draining: ",
		"\nstale keys                      0   (",
	} {
		require.Contains(t, out.String(), want)
	}
	require.NotContains(t, out.String(), "\x1b", "output that is not a terminal must have no escape sequences")
}

func TestInvalidFlags(t *testing.T) {
	t.Parallel()
	for want, flags := range map[string][]string{
		"--pods must not be negative":                          {"--pods", "-1"},
		"--namespaces must be at least 1":                      {"--namespaces", "0"},
		"--workers must be at least 1":                         {"--workers", "0"},
		"--for must not be negative":                           {"--for", "-1s"},
		"--work must not be negative":                          {"--work", "-1s"},
		"--fail must not be negative":                          {"--fail", "-1"},
		"--slow-handler must not be negative":                  {"--slow-handler", "-1s"},
		"--resync must not be negative":                        {"--resync", "-1s"},
		"--churn must be a number that is not negative":        {"--churn", "NaN"},
		"--pods must not be negative\n--workers must be at le": {"--pods", "-1", "--workers", "-1"},
		`output format "xml" is unknown: use text or json`:     {"--output", "xml"},
		"missing unit in duration":                             {"--for", "5"},
		`unknown command "pods"`:                               {"pods"},
	} {
		var out bytes.Buffer
		require.ErrorContains(t, demo(t.Context(), &out, flags...), want)
		require.Empty(t, out.String())
	}
	for _, churn := range []string{"-1", "Inf", "-Inf"} {
		require.ErrorContains(t, demo(t.Context(), io.Discard, "--churn", churn), "--churn must be")
	}
}

package demo

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// experimentLine is a line of --output json with the fields of experiments.
type experimentLine struct {
	Type      string
	Attempt   int
	Failed    bool
	Calls     int
	Events    int
	Enqueued  int
	SlowCalls *int `json:"slow_calls"`
	Resyncs   *int
	Lookup    *lookup
}

// runExperiment runs the demo with flags. It returns the lines of type of, and the summary.
func runExperiment(t *testing.T, of string, flags ...string) (lines []experimentLine, summary experimentLine) {
	var out bytes.Buffer
	require.NoError(t, demo(t.Context(), &out, append(flags, "--output", "json")...))
	for text := range strings.Lines(out.String()) {
		summary = experimentLine{}
		require.NoError(t, json.Unmarshal([]byte(text), &summary), text)
		if summary.Type == of {
			lines = append(lines, summary)
		}
	}
	require.Equal(t, "summary", summary.Type)
	return lines, summary
}

func TestFailedReconcileIsRetried(t *testing.T) {
	eachPipeline(t, func(t *testing.T, pipeline string) {
		attempts, _ := runExperiment(t, "attempt", pipeline, "--pods", "1", "--churn", "0", "--fail", "2", "--for", "1ms")
		require.Len(t, attempts, 3, "two attempts must fail and the third succeed before the run ends")
		for n, a := range attempts {
			require.Equal(t, n+1, a.Attempt)
			require.Equal(t, n < 2, a.Failed)
		}
	})
}

func TestSlowWorkMergesChanges(t *testing.T) {
	eachPipeline(t, func(t *testing.T, pipeline string) {
		// Reconciling one key takes about as long as making all the changes, for any number of
		// pods.
		_, summary := runExperiment(t, "", pipeline, "--pods", "1", "--churn", "1000", "--work", "250ms", "--workers", "32", "--for", "300ms")
		require.Less(t, summary.Enqueued, summary.Events)
		require.Nil(t, summary.SlowCalls)
		require.Nil(t, summary.Resyncs)
		require.Nil(t, summary.Lookup)
	})
}

func TestSlowHandlerIsSyncedLater(t *testing.T) {
	eachPipeline(t, func(t *testing.T, pipeline string) {
		synced, summary := runExperiment(t, "slow_handler_synced", pipeline, "--pods", "20", "--churn", "0", "--slow-handler", "5ms", "--for", "500ms")
		require.Len(t, synced, 1)
		require.Equal(t, 20, synced[0].Calls)
		require.Equal(t, 20, *summary.SlowCalls)
	})
}

func TestUnsyncedSlowHandlerBlocksNothing(t *testing.T) {
	eachPipeline(t, func(t *testing.T, pipeline string) {
		synced, summary := runExperiment(t, "slow_handler_synced", pipeline, "--pods", "100", "--churn", "0", "--slow-handler", "100ms", "--for", "1ms")
		require.Empty(t, synced)
		require.Less(t, *summary.SlowCalls, 100)
		require.Equal(t, 100, summary.Events)
	})
}

func TestResyncDeliversEveryObject(t *testing.T) {
	eachPipeline(t, func(t *testing.T, pipeline string) {
		_, summary := runExperiment(t, "", pipeline, "--pods", "3", "--churn", "0", "--resync", "100ms", "--for", "350ms")
		require.GreaterOrEqual(t, *summary.Resyncs, 3)
		require.Zero(t, *summary.Resyncs%3)
		require.Equal(t, 3+*summary.Resyncs, summary.Events)
	})
}

func TestRunWithFastResyncEnds(t *testing.T) {
	eachPipeline(t, func(t *testing.T, pipeline string) {
		_, summary := runExperiment(t, "", pipeline, "--pods", "1", "--churn", "0", "--resync", "5ms", "--work", "50ms", "--for", "200ms")
		require.Less(t, summary.Enqueued, 10)
	})
}

func TestPodsOfANodeAreFoundByTheIndex(t *testing.T) {
	eachPipeline(t, func(t *testing.T, pipeline string) {
		_, summary := runExperiment(t, "", pipeline, "--pods", "300", "--churn", "1000", "--node", "node-7", "--for", "300ms")
		require.Positive(t, summary.Lookup.Pods)
		require.Zero(t, summary.Lookup.Missed)
	})
}

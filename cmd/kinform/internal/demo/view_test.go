package demo

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/view"
)

// During a run, the page shows its pipeline. After the run, the page is gone.
func TestRunServesAPage(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	asked := false
	var url string
	out := writerFunc(func(p []byte) {
		var l struct {
			Type, View string
		}
		require.NoError(t, json.Unmarshal(p, &l))
		if l.View != "" {
			url = l.View
		}
		if l.Type != "event" || asked {
			return
		}
		asked = true
		defer cancel()
		answer, err := client.Get(url + "parts")
		require.NoError(t, err)
		defer answer.Body.Close()
		var parts view.Pipelines
		require.NoError(t, json.NewDecoder(answer.Body).Decode(&parts))
		require.Len(t, parts.Pipelines, 2)
		require.InDelta(t, 40, parts.Pipelines[0].Objects, 10)
	})
	require.NoError(t, demo(ctx, out, "-o", "json", "--pods", "40", "--churn", "50"))
	require.True(t, asked)
	_, err := client.Get(url)
	require.Error(t, err, "the page must end with the run")
}

func TestRunsWithAPage(t *testing.T) {
	t.Parallel()
	for _, flags := range [][]string{{"--no-view"}, {"--plain"}, {"--for", "1h"}} {
		ctx, cancel := context.WithCancel(t.Context())
		out := writerFunc(func(p []byte) {
			require.NotContains(t, string(p), `"view"`)
			cancel()
		})
		// The run ends before its first list.
		_ = demo(ctx, out, append(flags, "-o", "json", "--pods", "1")...)
	}
	require.ErrorContains(t, demo(t.Context(), io.Discard, "--open", "--no-view"), "--open and --record need the page")
	require.ErrorContains(t, demo(t.Context(), io.Discard, "--open", "--plain"), "--open and --record need the page")
}

type writerFunc func([]byte)

func (w writerFunc) Write(p []byte) (int, error) {
	w(p)
	return len(p), nil
}

// A recorded run has a page and ends normally. If the file exists already, the run fails.
func TestRecordARun(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "run.jsonl")
	require.NoError(t, demo(t.Context(), io.Discard, "--record", path, "--for", "500ms", "--pods", "20"))
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	hello, frames, err := view.ReadRecording(file)
	require.NoError(t, err)
	require.Equal(t, "kinform demo", hello.Title)
	n := 0
	for _, err := range frames {
		require.NoError(t, err)
		n++
	}
	require.Positive(t, n)
	require.ErrorContains(t, demo(t.Context(), io.Discard, "--record", path, "--for", "1h"), "exists already")
	require.ErrorContains(t, demo(t.Context(), io.Discard, "--record", path, "--no-view"), "need the page")
}

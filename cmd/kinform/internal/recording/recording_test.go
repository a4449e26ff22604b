package recording

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/kinform/kinform/view"
	"github.com/kinform/kinform/view/lab"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A recording that was written can be served.
func TestARecordingIsWrittenAndServed(t *testing.T) {
	l, err := lab.New(lab.Options{Pods: 3})
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "seen.jsonl")
	f, err := Start(l.View(), path)
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- l.Run(ctx) }()
	_, frames, err := l.View().Frames(ctx, "")
	require.NoError(t, err)
	n := 0
	for range frames {
		if n++; n == 3 {
			break
		}
	}
	require.NoError(t, f.Close())
	stop()
	require.NoError(t, <-ended)
	_, err = Start(l.View(), path)
	require.ErrorContains(t, err, "exists already: remove it, or name another file")

	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	hello, frames2, err := view.ReadRecording(file)
	require.NoError(t, err)
	require.Equal(t, "pods", hello.Name)
	for _, err := range frames2 {
		require.NoError(t, err)
		n--
	}
	require.LessOrEqual(t, n, 1, "all viewers must get the same frames")

	ctx, stop = context.WithCancel(t.Context())
	defer stop()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	require.NoError(t, Serve(ctx, path, "127.0.0.1:0", false, func(where string) {
		go func() {
			defer stop()
			address, _, _ := strings.Cut(where, "#code=")
			token := where[strings.LastIndex(where, " ")+1:]
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address+"recording", nil)
			if err == nil {
				r.Header.Set("Authorization", "Bearer "+token)
				var answer *http.Response
				if answer, err = client.Do(r); err == nil {
					err = answer.Body.Close()
				}
				if answer != nil && answer.StatusCode != http.StatusOK {
					t.Errorf("the response is %s", answer.Status)
				}
			}
			if err != nil {
				t.Error(err)
			}
		}()
	}))
}

func TestWithoutARecording(t *testing.T) {
	f, err := Start(nil, "")
	require.NoError(t, err)
	require.NoError(t, f.Close())
}

func TestInvalidRecordings(t *testing.T) {
	v, err := view.New(view.Options{})
	require.NoError(t, err)
	_, err = Start(v, filepath.Join(t.TempDir(), "no", "such"))
	require.ErrorContains(t, err, "--record: open ")
	f, err := Start(v, filepath.Join(t.TempDir(), "nothing"))
	require.NoError(t, err)
	require.ErrorIs(t, f.Close(), view.ErrUnknownPipeline)

	none := filepath.Join(t.TempDir(), "none.jsonl")
	require.NoError(t, os.WriteFile(none, []byte("{}\n"), 0o600))
	for path, says := range map[string]string{
		none:                         "line 1: the first line has no field hello",
		filepath.Join(none, "below"): "--replay: stat ",
		t.TempDir():                  "a recording is a file of at most",
	} {
		require.ErrorContains(t, Serve(t.Context(), path, "127.0.0.1:0", false, nil), says)
	}
}

package rest

import (
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// logbook collects log lines. Each line has the minutes since the creation of the logbook instead
// of a time.
type logbook struct {
	began time.Time
	lines []string
}

func (l *logbook) Write(line []byte) (int, error) {
	_, text, _ := strings.Cut(strings.TrimSpace(string(line)), " ")
	l.lines = append(l.lines, fmt.Sprintf("%v %s", time.Since(l.began).Truncate(time.Minute), text))
	return len(line), nil
}

func (l *logbook) logger() *slog.Logger {
	l.began = time.Now()
	return slog.New(slog.NewTextHandler(l, nil))
}

// The client logs retries, because otherwise the caller would notice only that the request takes
// long.
func TestRetriesAreLoggedAtStartAndEveryFiveMinutes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log logbook
		client, stop := serveMemory(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			failWith(http.StatusServiceUnavailable, "10")(w)
		}), Options{Logger: log.logger(), MaxRetries: 5})
		defer stop()
		for time.Since(log.began) < 7*time.Minute {
			_, err := get(t.Context(), client)
			require.Error(t, err)
		}
		require.Len(t, log.lines, 2, log.lines)
		require.Regexp(t, `^0s level=WARN msg="A request failed and is retried\." err="GET http.*" attempts=1 retry_in=1.* unlogged=0$`, log.lines[0])
		require.Regexp(t, `^5m0s level=WARN msg="A request failed and is retried\." .* unlogged=2[0-9]$`, log.lines[1])
	})
}

func TestLogsGoToTheDefaultLogger(t *testing.T) {
	previous := slog.Default()
	defer slog.SetDefault(previous)
	var log logbook
	slog.SetDefault(log.logger())
	client := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Add("Warning", `299 - "v1beta1 is deprecated"`)
	}), Options{})
	slog.SetDefault(previous) // the client keeps the default logger from the time of NewClient
	_, err := get(t.Context(), client)
	require.NoError(t, err)
	require.Len(t, log.lines, 1)
	require.Contains(t, log.lines[0], "v1beta1 is deprecated")
}

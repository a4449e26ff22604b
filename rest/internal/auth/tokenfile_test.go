package auth

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/rest/internal/redact"
	"github.com/kinform/kinform/rest/internal/transport"
)

func TestTokenFileIsReloaded(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "token")
	write := func(token string) { require.NoError(t, os.WriteFile(file, []byte(token), 0o600)) }
	synctest.Test(t, func(t *testing.T) {
		write("one")
		f := NewTokenFile(file, nil, slog.New(slog.DiscardHandler))
		get := func() string {
			token, err := f.Get(t.Context(), transport.ReloadTimeout)
			require.NoError(t, err)
			return token.Reveal()
		}
		require.Equal(t, "one", get())

		write("two")
		time.Sleep(transport.ReloadInterval - 1)
		require.Equal(t, "one", get(), "the file must be read at most once a minute")
		time.Sleep(time.Nanosecond)
		require.Equal(t, "two", get())

		require.NoError(t, os.Remove(file))
		time.Sleep(transport.ReloadInterval)
		require.Equal(t, "two", get(), "the last valid token must stay in use")

		write("three")
		f.ExpireIfCurrent(redact.Hide("one"))
		require.Equal(t, "two", get(), "a 401 for an earlier token must not reload the file")
		f.ExpireIfCurrent(redact.Hide("two"))
		require.Equal(t, "three", get(), "a 401 for the current token must reload the file")
	})
}

func TestUnreadableTokenFileIsLoggedEveryFiveMinutes(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "token")
	synctest.Test(t, func(t *testing.T) {
		var log logbook
		require.NoError(t, os.WriteFile(file, []byte("good"), 0o600))
		f := NewTokenFile(file, nil, log.logger())
		read := func(minutes int) {
			for range minutes {
				f.read()
				time.Sleep(time.Minute)
			}
		}
		read(1)
		require.NoError(t, os.Remove(file))
		read(7)
		require.NoError(t, os.WriteFile(file, []byte("good"), 0o600))
		read(3)
		require.Len(t, log.lines, 3, log.lines)
		require.Contains(t, log.lines[0], "1m0s level=WARN msg=\"The token file cannot be read; the last valid token stays in use.\"")
		require.Contains(t, log.lines[1], "6m0s level=WARN")
		require.Contains(t, log.lines[2], "8m0s level=INFO msg=\"The token file can be read again.\"")
	})
}

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

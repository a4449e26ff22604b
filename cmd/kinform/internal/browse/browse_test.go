//go:build linux

package browse

import (
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/kinform/kinform/view"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func guarded(t *testing.T) *view.View {
	t.Helper()
	v, err := view.New(view.Options{Private: true})
	require.NoError(t, err)
	return v
}

// opened opens a page, and returns the arguments of the browser command.
func opened(t *testing.T, v *view.View) string {
	t.Helper()
	dir := t.TempDir()
	said := filepath.Join(dir, "said")
	require.NoError(t, syscall.Mkfifo(said, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "xdg-open"), []byte("#!/bin/sh\necho \"$@\" > "+said+"\n"), 0o700))
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	require.NoError(t, Open(v, "http://127.0.0.1:1/"))
	text, err := os.ReadFile(said)
	require.NoError(t, err)
	return strings.TrimSpace(string(text))
}

// Every user of a machine can read a browser's command line. So the command line contains no token,
// but a code that admits only one browser.
func TestBrowserCommandLineHasNoToken(t *testing.T) {
	v := guarded(t)
	printed := Instructions(v, "http://127.0.0.1:1/")
	address := opened(t, v)
	require.NotContains(t, address, v.Token())
	require.NotContains(t, printed, address, "the printed address must not contain the browser's code, which works only once")
	_, code, ok := strings.Cut(address, "http://127.0.0.1:1/#code=")
	require.True(t, ok, address)
	require.Equal(t, http.StatusOK, enter(v, code))
	require.Equal(t, http.StatusUnauthorized, enter(v, code))
}

// enter sends a code, and returns the status code of the response.
func enter(v *view.View, code string) int {
	r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1:1/session", strings.NewReader(`{"code":"`+code+`"}`))
	r.Header.Set("Content-Type", "application/json")
	r.RemoteAddr = "127.0.0.1:2"
	w := httptest.NewRecorder()
	v.ServeHTTP(w, r)
	return w.Code
}

func TestErrorWithoutABrowserHasNoSecret(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	v := guarded(t)
	err := Open(v, "http://127.0.0.1:1/")
	require.ErrorContains(t, err, "cannot open a browser")
	require.NotContains(t, err.Error(), "code")
	require.NotContains(t, err.Error(), v.Token())
}

func TestInstructions(t *testing.T) {
	v, err := view.New(view.Options{})
	require.NoError(t, err)
	require.Equal(t, "http://127.0.0.1:1/", Instructions(v, "http://127.0.0.1:1/"))
	g := guarded(t)
	address, hint, _ := strings.Cut(Instructions(g, "http://127.0.0.1:1/"), "\n")
	require.NotContains(t, address, g.Token())
	require.True(t, strings.HasSuffix(hint, "its token: "+g.Token()), hint)
	require.Equal(t, "http://127.0.0.1:1/", opened(t, v))
}

// logLines is a log that passes each line to the test.
type logLines chan string

func (s logLines) Write(p []byte) (int, error) {
	s <- string(p)
	return len(p), nil
}

// On a machine without a browser, xdg-open exists but fails with an exit status. After this
// failure, the code in the address must not work.
func TestFailureOfTheBrowserIsLogged(t *testing.T) {
	dir := t.TempDir()
	seen := filepath.Join(dir, "seen")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "xdg-open"), []byte("#!/bin/sh\necho \"$@\" > "+seen+"\nexit 3\n"), 0o700))
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	lines := make(logLines, 1)
	log.SetOutput(lines)
	defer log.SetOutput(os.Stderr)
	v := guarded(t)
	require.NoError(t, Open(v, "http://127.0.0.1:1/"))
	line := <-lines
	require.Contains(t, line, "--open: xdg-open has opened no browser (exit status 3): open the printed address yourself")
	require.NotContains(t, line, v.Token())
	address, err := os.ReadFile(seen)
	require.NoError(t, err)
	_, code, ok := strings.Cut(strings.TrimSpace(string(address)), "#code=")
	require.True(t, ok)
	require.Equal(t, http.StatusUnauthorized, enter(v, code), "the code must not work any more, because all users could read it")
}

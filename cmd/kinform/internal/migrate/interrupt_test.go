package migrate

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// interrupted runs the command and interrupts it.
func interrupted(t *testing.T, ctx context.Context, dir string) (string, error) {
	t.Helper()
	cmd := Command("v0.1.0")
	var out bytes.Buffer
	cmd.SetArgs([]string{dir})
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	err := cmd.ExecuteContext(ctx)
	return out.String(), err
}

func TestInterruptOfTheCompilerRestoresGoMod(t *testing.T) {
	releases(t)
	dir := program(t, map[string]string{"main.go": goodMain})
	goCommand(t, dir, "mod", "tidy")
	before := snapshot(t, dir)

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Setenv(heldBy, listener.Addr().String())
	t.Setenv("GOFLAGS", "-modcacherw -toolexec="+os.Args[0])
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	var during map[string]string
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for { // for each compiler that starts
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			if during == nil {
				during = snapshot(t, dir)
			}
			interrupt()
			connection.Close()
		}
	}()
	out, err := interrupted(t, ctx, dir)
	require.NoError(t, listener.Close())
	<-ended
	require.ErrorContains(t, err, "interrupted in go list: context canceled: go.mod and go.sum are unchanged")
	require.Contains(t, during["go.mod"], dropIn, "the interrupt must come after go.mod has changed")
	require.Equal(t, before, snapshot(t, dir))
	require.Contains(t, out, "compiling the module")
}

func TestInterruptOfADownloadChangesNothing(t *testing.T) {
	p := releases(t)
	dir := program(t, map[string]string{"main.go": goodMain})
	goCommand(t, dir, "mod", "tidy")
	before := snapshot(t, dir)
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	files := http.FileServer(http.Dir(p.dir))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		interrupt()
		files.ServeHTTP(w, r)
	}))
	defer server.Close()
	t.Setenv("GOPROXY", server.URL)
	t.Setenv("GOINSECURE", "*")
	_, err := interrupted(t, ctx, dir)
	require.ErrorContains(t, err, "interrupted in go mod tidy")
	require.Equal(t, before, snapshot(t, dir))
}

// The command prints its progress at least every few seconds while it works.
func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		err := progress{&out}.run("compiling", "packages", func(said io.Writer) error {
			time.Sleep(progressInterval + time.Second)
			fmt.Fprint(said, "example.com/a\nexample.com/b\nexample")
			time.Sleep(progressInterval)
			fmt.Fprint(said, ".com/c\n")
			time.Sleep(progressInterval)
			return os.ErrInvalid
		})
		require.ErrorIs(t, err, os.ErrInvalid)
		require.Equal(t, "compiling\n  still running\n  2 packages so far, the last: example.com/b\n  3 packages so far, the last: example.com/c\n", out.String())
	})
}

// Progress counts lines, so the go command has to print messages.
func TestGoCommandPrintsProgress(t *testing.T) {
	releases(t)
	dir := program(t, map[string]string{"main.go": goodMain})
	m, err := openModule(t.Context(), dir)
	require.NoError(t, err)
	lines := &lineCounter{}
	m.output = lines
	_, err = compile(t.Context(), m, nil)
	require.NoError(t, err)
	require.Contains(t, lines.state("packages"), " packages so far, the last: example.com/program")
	require.Equal(t, filepath.Join(dir, "go.mod"), m.file)
}

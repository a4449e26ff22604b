//go:build unix

package safefile

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestIrregularFilesAreRefusedAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pipe, link, socket := filepath.Join(dir, "pipe"), filepath.Join(dir, "link"), filepath.Join(dir, "socket")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	require.NoError(t, os.Symlink(pipe, link))
	listener, err := net.Listen("unix", socket)
	require.NoError(t, err)
	defer listener.Close()
	for _, path := range []string{pipe, link, dir, "/dev/null", "/dev/zero"} {
		within(t, pipe, func() { _, err = Read(path, 10) })
		require.ErrorIs(t, err, ErrNotRegular, path)
	}
	within(t, pipe, func() { _, err = Read(socket, 10) })
	require.Error(t, err)
	within(t, pipe, func() { _, _, err = Open(link, Refuse) })
	require.ErrorIs(t, err, ErrLink)
	require.NoError(t, os.Remove(link))
	require.NoError(t, os.Symlink(link, link))
	_, err = Read(link, 10)
	require.ErrorIs(t, err, ErrLink)
}

// Another goroutine replaces the file by a pipe and back again, as fast as it can. A file that was
// regular when it was checked may be a pipe when it is opened.
func TestReplacementByAPipeBlocksNoCaller(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "token")
	names := [2]string{filepath.Join(dir, "file"), filepath.Join(dir, "pipe")}
	require.NoError(t, os.WriteFile(path, []byte("token"), 0o600))
	var ended atomic.Bool
	var swapper sync.WaitGroup
	var failed error
	swapper.Go(func() {
		for !ended.Load() && failed == nil {
			failed = swap(path, names)
		}
	})
	files, pipes := 0, 0
	within(t, path, func() {
		for began := time.Now(); (files < 100 || pipes < 100 || files+pipes < 5000) && time.Since(began) < 5*time.Second; {
			switch _, err := Read(path, 10); {
			case err == nil:
				files++
			default:
				pipes++
			}
		}
	})
	ended.Store(true)
	swapper.Wait()
	require.NoError(t, failed)
	require.Positive(t, files)
	require.Positive(t, pipes)
}

// swap replaces path by a pipe, and then by a file again. path exists all the time.
func swap(path string, names [2]string) error {
	if err := syscall.Mkfifo(names[1], 0o600); err != nil {
		return fmt.Errorf("mkfifo: %w", err)
	}
	if err := os.Rename(names[1], path); err != nil {
		return err
	}
	if err := os.WriteFile(names[0], []byte("token"), 0o600); err != nil {
		return err
	}
	return os.Rename(names[0], path)
}

// within fails the test if f takes longer than a minute.
func within(t *testing.T, pipe string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		// f has opened a pipe, and waits for a writer. The pipe may have another name by now.
		require.FailNow(t, "the call hangs", pipe)
	}
}

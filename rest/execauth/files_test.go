//go:build unix

package execauth

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestNonRegularCAFileDoesNotBlock: the CA file in a plugin's configuration may be a pipe, and
// opening a pipe may block. It may also be very large.
func TestNonRegularCAFileDoesNotBlock(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pipe, large := filepath.Join(dir, "pipe"), filepath.Join(dir, "large")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	require.NoError(t, os.WriteFile(large, nil, 0o600))
	require.NoError(t, os.Truncate(large, 100<<20))
	for path, want := range map[string]string{pipe: "not a regular file", dir: "not a regular file", large: "more than"} {
		p := newPlugin(t, "echo", Options{Cluster: &Cluster{Server: "https://h", CAFile: path}})
		failed := make(chan error, 1)
		go func() {
			_, err := p.Credential(t.Context(), nil)
			failed <- err
		}()
		select {
		case err := <-failed:
			require.ErrorContains(t, err, want)
		case <-time.After(time.Minute):
			file, err := os.OpenFile(pipe, os.O_RDWR, 0)
			require.NoError(t, err)
			file.Close()
			require.Fail(t, "Credential must not block", path)
		}
	}
}

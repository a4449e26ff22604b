package homedir

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHomeDirComesFromTheEnvironment(t *testing.T) {
	t.Setenv("HOME", "/somewhere")
	require.Equal(t, "/somewhere", HomeDir())
}

func TestPickOnWindows(t *testing.T) {
	configured, plain, locked := t.TempDir(), t.TempDir(), t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(configured, ".kube"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(configured, ".kube", "config"), nil, 0o600))
	require.NoError(t, os.Chmod(locked, 0o500))
	require.Equal(t, configured, pick([]string{plain, "", configured}, []string{plain}))
	require.Equal(t, plain, pick(nil, []string{"", locked, plain}))
	require.Equal(t, locked, pick(nil, []string{"/missing", locked}))
	require.Equal(t, "/missing", pick(nil, []string{"", "/missing"}))
	require.Empty(t, pick([]string{""}, []string{""}))
}

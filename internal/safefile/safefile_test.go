package safefile

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFileIsReadUpToItsLimit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	require.NoError(t, os.WriteFile(path, []byte("four"), 0o600))
	data, err := Read(path, 4)
	require.NoError(t, err)
	require.Equal(t, "four", string(data))
	_, err = Read(path, 3)
	require.EqualError(t, err, path+" has 4 bytes, more than 3")
	_, err = Read(filepath.Join(dir, "none"), 4)
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = Read(dir, 4)
	require.ErrorIs(t, err, ErrNotRegular)

	if os.Symlink(path, link) != nil {
		t.Skip("this system has no links for this user")
	}
	data, err = Read(link, 4)
	require.NoError(t, err)
	require.Equal(t, "four", string(data))
	_, _, err = Open(link, Refuse)
	require.ErrorIs(t, err, ErrLink)
	file, info, err := Open(path, Refuse)
	require.NoError(t, err)
	require.NoError(t, file.Close())
	require.EqualValues(t, 4, info.Size())
}

// Files of /proc report a size of 0.
func TestFileWithoutASizeIsBounded(t *testing.T) {
	t.Parallel()
	const symbols = "/proc/kallsyms"
	if data, err := os.ReadFile(symbols); err != nil || len(data) <= 100 {
		t.Skip("there is no such file here")
	}
	_, err := Read(symbols, 100)
	require.EqualError(t, err, symbols+" has more than 100 bytes")
}

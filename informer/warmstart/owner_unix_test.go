//go:build unix

package warmstart

import (
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/kinform/kinform/indexer"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

// A file that others could have written is not used. A path that is not a regular file neither
// blocks nor is read.
func TestFileThatOthersCouldHaveWrittenIsNotLoaded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "pods")
	good := filepath.Join(dir, "good")
	require.NoError(t, put(t, podFile(t, good, Options{}), here, podStore(t, 2)))
	whole, err := os.ReadFile(good)
	require.NoError(t, err)
	for name, test := range map[string]struct {
		put  func() error
		want string
	}{
		"a pipe":                {func() error { return syscall.Mkfifo(path, 0o600) }, "not a regular file"},
		"a link to a good file": {func() error { return os.Symlink(good, path) }, "a symbolic link"},
		"a link to a pipe":      {func() error { return os.Symlink("/dev/stdin", path) }, "a symbolic link"},
		"a link to itself":      {func() error { return os.Symlink(path, path) }, "a symbolic link"},
		"a directory":           {func() error { return os.Mkdir(path, 0o700) }, "not a regular file"},
		"for the group":         {func() error { return written(path, whole, 0o620) }, "group or others may write"},
		"for others":            {func() error { return written(path, whole, 0o602) }, "group or others may write"},
		"for all":               {func() error { return written(path, whole, 0o666) }, "group or others may write"},
	} {
		require.NoError(t, os.RemoveAll(path))
		require.NoError(t, test.put(), name)
		loaded := make(chan error, 1)
		go func() {
			entries, _, err := podFile(t, path, Options{}).load(here)
			if err == nil {
				err = fmt.Errorf("%d objects were loaded", len(entries))
			}
			loaded <- err
		}()
		select {
		case err := <-loaded:
			require.ErrorIs(t, err, ErrUnsafe, name)
			require.ErrorContains(t, err, test.want, name)
		case <-time.After(time.Minute):
			require.FailNow(t, "opening hangs", name)
		}
	}
	for _, mode := range []fs.FileMode{0o600, 0o400, 0o644} {
		require.NoError(t, os.RemoveAll(path))
		require.NoError(t, written(path, whole, mode))
		_, _, err := podFile(t, path, Options{}).load(here)
		require.NoError(t, err, "a file that only its owner may write is used")
	}

	// The path may contain a link to a directory.
	require.NoError(t, os.Symlink(dir, filepath.Join(dir, "linked")))
	_, _, err = podFile(t, filepath.Join(dir, "linked", "good"), Options{}).load(here)
	require.NoError(t, err)
}

func TestDeviceIsNotRead(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/dev/zero", "/dev/null", "/dev/tty"} {
		_, _, err := podFile(t, path, Options{}).load(here)
		if path == "/dev/tty" { // Many processes have no terminal.
			require.Error(t, err)
			continue
		}
		require.ErrorIs(t, err, ErrUnsafe)
		require.ErrorContains(t, err, "not a regular file")
	}
	socket := filepath.Join(t.TempDir(), "s")
	listener, err := net.Listen("unix", socket)
	require.NoError(t, err)
	defer listener.Close()
	_, _, err = podFile(t, socket, Options{}).load(here)
	require.Error(t, err)
}

func TestFileOfAnotherUserOfTheMachineIsNotLoaded(t *testing.T) {
	t.Parallel()
	require.NoError(t, checkOwnedBy(1000, 1000, 0o600))
	require.NoError(t, checkOwnedBy(1000, 0, 0o644), "a file of root is trusted")
	require.ErrorIs(t, checkOwnedBy(1000, 1001, 0o600), ErrUnsafe)
	require.ErrorIs(t, checkOwnedBy(0, 1000, 0o600), ErrUnsafe, "root does not trust a user's file")
	require.ErrorIs(t, checkOwnedBy(1000, 1000, 0o620), ErrUnsafe)
	if os.Geteuid() != 0 {
		return // Only root can change the owner of a file.
	}
	path := filepath.Join(t.TempDir(), "pods")
	file := podFile(t, path, Options{})
	require.NoError(t, put(t, file, here, podStore(t, 2)))
	_, _, err := file.load(here)
	require.NoError(t, err)
	require.NoError(t, os.Chown(path, 65534, 65534))
	_, _, err = file.load(here)
	require.ErrorIs(t, err, ErrUnsafe)
	require.ErrorContains(t, err, "the owner is user 65534")
}

// A file that may contain Secrets must be private. If its mode was widened, the error says so.
func TestFileOfSecretsThatOthersCanReadIsNotLoaded(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "secrets")
	source := map[string]string{"cluster": "4f1c", "resource": "/v1/secrets"}
	file, err := New(path, Protobuf[corev1.Secret](), Options{Secrets: true})
	require.NoError(t, err)
	store, err := indexer.New(indexer.Options[*corev1.Secret]{})
	require.NoError(t, err)
	_, err = store.Apply([]indexer.Op[*corev1.Secret]{{Object: &corev1.Secret{}, ResourceVersion: "5"}}, "9")
	require.NoError(t, err)
	require.NoError(t, put(t, file, source, store))
	_, _, err = file.load(source)
	require.NoError(t, err)
	for _, mode := range []fs.FileMode{0o640, 0o604} {
		require.NoError(t, os.Chmod(path, mode))
		_, _, err = file.load(source)
		require.ErrorIs(t, err, ErrUnsafe)
		require.ErrorContains(t, err, "may hold Secrets")
	}
}

// A link or another file at the path is replaced, and not followed.
func TestSaveFollowsNoLink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path, victim := filepath.Join(dir, "pods"), filepath.Join(dir, "victim")
	for name, put := range map[string]func() error{
		"a link":          func() error { return os.Symlink(victim, path) },
		"a pipe":          func() error { return syscall.Mkfifo(path, 0o666) },
		"a readable file": func() error { return written(path, nil, 0o666) },
	} {
		require.NoError(t, os.RemoveAll(path))
		require.NoError(t, written(victim, []byte("mine"), 0o600))
		require.NoError(t, put(), name)
		require.NoError(t, saveTwo(t, path), name)
		info, err := os.Lstat(path)
		require.NoError(t, err)
		require.Equal(t, fs.FileMode(0o600), info.Mode(), name)
		data, err := os.ReadFile(victim)
		require.NoError(t, err)
		require.Equal(t, "mine", string(data), name)
	}
	require.NoError(t, os.RemoveAll(path))
	require.NoError(t, os.Mkdir(path, 0o700))
	require.Error(t, saveTwo(t, path), "a directory at the path is not replaced")
	names, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, names, 2, "no temporary file is left")
}

func saveTwo(t *testing.T, path string) error {
	return put(t, podFile(t, path, Options{}), here, podStore(t, 2))
}

// written writes a file with exactly this mode, whatever the umask is.
func written(path string, data []byte, mode fs.FileMode) error {
	if err := os.WriteFile(path, data, 0o600); err != nil {
		return err
	}
	return os.Chmod(path, mode)
}

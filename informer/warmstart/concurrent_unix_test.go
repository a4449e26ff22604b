//go:build unix

package warmstart

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/kinform/kinform/internal/testing/testsize"
)

// A full disk makes a save fail, but the existing file stays, and no temporary file remains. (It is
// not parallel, because it limits the file size of the whole process.)
func TestFullDiskLeavesTheOldFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pods")
	require.NoError(t, put(t, podFile(t, path, Options{}), here, podStore(t, 3)))
	var limit syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit))
	bounded := limit
	bounded.Cur = 32 << 10
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &bounded))
	err := put(t, podFile(t, path, Options{}), here, podStore(t, 1_500))
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit))
	require.ErrorIs(t, err, syscall.EFBIG)
	entries, _, err := podFile(t, path, Options{}).load(here)
	require.NoError(t, err)
	require.Len(t, entries, 3)
	requireNoOtherFile(t, path)
	require.NoError(t, put(t, podFile(t, path, Options{}), here, podStore(t, 1_500)))
}

// requireNoOtherFile fails the test if the directory contains another file.
func requireNoOtherFile(t *testing.T, path string) {
	names, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, names, 1)
}

// A codec that panics or ends the goroutine leaves no temporary file either.
func TestBrokenCodecLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	for name, encode := range map[string]func(*corev1.Pod) ([]byte, error){
		"panic":  func(*corev1.Pod) ([]byte, error) { panic("broken") },
		"Goexit": func(*corev1.Pod) ([]byte, error) { runtime.Goexit(); return nil, nil },
	} {
		path := filepath.Join(t.TempDir(), "pods")
		require.NoError(t, put(t, podFile(t, path, Options{}), here, podStore(t, 3)))
		broken := podFile(t, path, Options{})
		broken.codec.Encode = encode
		var wait sync.WaitGroup
		wait.Add(1)
		go func() {
			defer wait.Done()
			defer func() { _ = recover() }()
			_ = put(t, broken, here, podStore(t, 5))
		}()
		wait.Wait()
		requireNoOtherFile(t, path)
		entries, _, err := podFile(t, path, Options{}).load(here)
		require.NoError(t, err, name)
		require.Len(t, entries, 3)
	}
}

// Two processes, or several goroutines, may save to the same path: there is a complete file at any
// time.
func TestConcurrentSavesLeaveACompleteFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pods")
	sizes := []int{3, 70, 500}
	require.NoError(t, put(t, podFile(t, path, Options{}), here, podStore(t, sizes[0])))
	var wait sync.WaitGroup
	for _, n := range sizes {
		store := podStore(t, n)
		process := podFile(t, path, Options{})
		for range 2 {
			wait.Go(func() {
				for range testsize.Scale(15, 5) {
					if err := put(t, process, here, store); err != nil {
						t.Error(err)
					}
					entries, version, err := process.load(here)
					if err != nil || version != "77" || len(entries) != sizes[0] && len(entries) != sizes[1] && len(entries) != sizes[2] {
						t.Error(len(entries), version, err)
					}
				}
			})
		}
	}
	wait.Wait()
	requireNoOtherFile(t, path)
}

// The file that is read is the file that was checked, even if the path is replaced repeatedly. The
// content of an unsafe file is never used, and a pipe does not block.
func TestFileThatIsReplacedWhileItIsOpened(t *testing.T) {
	t.Parallel()
	testsize.SkipIfShort(t, "exchanges a file many times")
	dir := t.TempDir()
	path, good, bad := filepath.Join(dir, "pods"), filepath.Join(dir, "good"), filepath.Join(dir, "bad")
	require.NoError(t, put(t, podFile(t, good, Options{}), here, podStore(t, 2)))
	require.NoError(t, put(t, podFile(t, bad, Options{}), here, podStore(t, 9)))
	require.NoError(t, os.Chmod(bad, 0o666))
	sparse := filepath.Join(dir, "sparse")
	require.NoError(t, written(sparse, []byte(magic), 0o600))
	require.NoError(t, os.Truncate(sparse, 1<<40))
	pipe := filepath.Join(dir, "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	stop := make(chan struct{})
	var wait sync.WaitGroup
	wait.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			default:
			}
			next := filepath.Join(dir, "next")
			switch n % 5 {
			case 0:
				_ = os.Link(good, next)
			case 1:
				_ = os.Symlink(bad, next)
			case 2:
				_ = os.Link(bad, next)
			case 3:
				_ = os.Link(pipe, next)
			case 4:
				_ = os.Link(sparse, next)
			}
			_ = os.Rename(next, path)
			_ = os.Remove(next)
		}
	})
	seen := map[string]int{}
	for n := 0; n < testsize.Scale(300, 120) || len(seen) < 3 && n < 100_000; n++ {
		entries, _, err := podFile(t, path, Options{}).load(here)
		switch {
		case err == nil:
			require.Len(t, entries, 2)
			seen["good"]++
		case strings.Contains(err.Error(), "MaxBytes"):
			seen["sparse"]++
		case os.IsNotExist(err):
		default:
			require.True(t, os.IsNotExist(err) || strings.Contains(err.Error(), ErrUnsafe.Error()) || strings.Contains(err.Error(), "no such file"), err)
			seen["unsafe"]++
		}
	}
	close(stop)
	wait.Wait()
	require.Len(t, seen, 3)
}

package warmstart

import (
	"context"
	"encoding/binary"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kinform/kinform/indexer"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

func podStore(t testing.TB, n int) *indexer.Store[*corev1.Pod] {
	store, err := indexer.New(indexer.Options[*corev1.Pod]{})
	require.NoError(t, err)
	_, err = store.Apply(podOps(n), "77")
	require.NoError(t, err)
	return store
}

func podOps(n int) []indexer.Op[*corev1.Pod] {
	var ops []indexer.Op[*corev1.Pod]
	for i := range n {
		key := types.NamespacedName{Namespace: "shop", Name: fmt.Sprintf("pod-%d", i)}
		version := fmt.Sprint(i + 1)
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, ResourceVersion: version, Labels: map[string]string{"n": version}}}
		ops = append(ops, indexer.Op[*corev1.Pod]{Key: key, Object: pod, ResourceVersion: version})
	}
	return ops
}

func podFile(t testing.TB, path string, opts Options) *File[*corev1.Pod] {
	opts.Resource = "pods"
	file, err := New(path, Protobuf[corev1.Pod](), opts)
	require.NoError(t, err)
	return file
}

func TestFileHoldsAStore(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pods")
	for _, n := range []int{0, 1, 300} {
		store := podStore(t, n)
		file := podFile(t, path, Options{Namespaces: []string{"shop", "blog", "shop"}})
		require.NoError(t, file.Save(store.Reader))
		entries, version, err := podFile(t, path, Options{Namespaces: []string{"blog", "shop"}}).Load()
		require.NoError(t, err)
		require.Equal(t, "77", version)
		require.Len(t, entries, n)
		for _, entry := range entries {
			want, ok := store.Entry(entry.Key)
			require.True(t, ok)
			require.Equal(t, want, entry)
		}
	}
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o600), info.Mode())
	names, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, names, 1, "nothing but the file is left")
}

func TestFileHoldsCustomResources(t *testing.T) {
	t.Parallel()
	store, err := indexer.New(indexer.Options[*unstructured.Unstructured]{})
	require.NoError(t, err)
	widget := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Widget", "metadata": map[string]any{"name": "w"}, "spec": map[string]any{"size": int64(1) << 60},
	}}
	_, err = store.Apply([]indexer.Op[*unstructured.Unstructured]{{Key: types.NamespacedName{Name: "w"}, Object: widget, ResourceVersion: "5"}}, "9")
	require.NoError(t, err)
	file, err := New(filepath.Join(t.TempDir(), "widgets"), JSON[*unstructured.Unstructured](), Options{Resource: "widgets.v1.example.com"})
	require.NoError(t, err)
	require.NoError(t, file.Save(store.Reader))
	entries, _, err := file.Load()
	require.NoError(t, err)
	require.Equal(t, widget, entries[0].Object)
}

func TestFileOfSomethingElseIsNotLoaded(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pods")
	require.NoError(t, podFile(t, path, Options{}).Save(podStore(t, 3).Reader))
	for want, opts := range map[string]Options{
		"Cluster": {Cluster: "other"}, "Namespaces": {Namespaces: []string{"a"}}, "LabelSelector": {LabelSelector: "a=b"},
		"FieldSelector": {FieldSelector: "a=b"}, "Projection": {Projection: "slim"},
	} {
		_, _, err := podFile(t, path, opts).Load()
		require.ErrorIs(t, err, ErrOther)
		require.ErrorContains(t, err, "its "+want+" is")
	}
	file, err := New(path, Protobuf[corev1.Pod](), Options{Resource: "services"})
	require.NoError(t, err)
	_, _, err = file.Load()
	require.ErrorContains(t, err, `its Resource is "pods" instead of "services"`)
	nodes, err := New(path, Protobuf[corev1.Node](), Options{Resource: "pods"})
	require.NoError(t, err)
	_, _, err = nodes.Load()
	require.ErrorContains(t, err, `its Type is "*v1.Pod" instead of "*v1.Node"`)
	inJSON, err := New(path, JSON[*corev1.Pod](), Options{Resource: "pods"})
	require.NoError(t, err)
	_, _, err = inJSON.Load()
	require.ErrorContains(t, err, `its Codec is`)
}

func TestDamagedFileIsNeverLoaded(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pods")
	file := podFile(t, path, Options{})
	_, _, err := file.Load()
	require.ErrorIs(t, err, fs.ErrNotExist)

	require.NoError(t, file.Save(podStore(t, 3).Reader))
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	load := func(data []byte) error {
		require.NoError(t, os.WriteFile(path, data, 0o600))
		entries, version, err := file.Load()
		require.Empty(t, entries)
		require.Empty(t, version)
		return err
	}
	for n := range whole { // cut off anywhere
		require.ErrorIs(t, load(whole[:n]), ErrDamaged, n)
	}
	for n := range whole { // one bit wrong anywhere
		data := slices.Clone(whole)
		data[n] ^= 4
		err := load(data)
		require.Error(t, err)
		if n < len(magic) || n >= len(magic)+4 {
			require.ErrorIs(t, err, ErrDamaged, n)
		}
	}
	require.ErrorIs(t, load(append(slices.Clone(whole), 0)), ErrDamaged)

	newer := slices.Clone(whole)
	binary.BigEndian.PutUint32(newer[len(magic):], format+1)
	require.ErrorIs(t, load(newer), ErrNewerFormat)

	require.NoError(t, os.WriteFile(path, whole, 0o600))
	_, _, err = file.Load()
	require.NoError(t, err)
	_, _, err = podFile(t, path, Options{MaxBytes: int64(len(whole)) - 1}).Load()
	require.ErrorContains(t, err, "more than Options.MaxBytes")
}

func TestSaveThatFailsLeavesTheOldFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pods")
	file := podFile(t, path, Options{})
	require.NoError(t, file.Save(podStore(t, 3).Reader))
	broken := *file
	broken.codec.Encode = func(*corev1.Pod) ([]byte, error) { return nil, fmt.Errorf("no") }
	require.ErrorContains(t, broken.Save(podStore(t, 5).Reader), "shop/pod-")
	entries, _, err := file.Load()
	require.NoError(t, err)
	require.Len(t, entries, 3)
	names, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, names, 1)
}

func TestSaveEverySavesWhatChangedAndTheEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		var failures []error
		file := podFile(t, filepath.Join(dir, "sub", "pods"), Options{OnError: func(err error) { failures = append(failures, err) }})
		store, err := indexer.New(indexer.Options[*corev1.Pod]{})
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- file.SaveEvery(ctx, store.Reader, time.Minute) }()
		saved := func() int {
			synctest.Wait()
			entries, _, err := file.Load()
			if err != nil {
				return -1
			}
			return len(entries)
		}

		time.Sleep(150 * time.Second)
		synctest.Wait()
		require.Empty(t, failures, "a store without a version is not saved")
		_, err = store.Apply(podOps(2), "50")
		require.NoError(t, err)
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Len(t, failures, 1, "there is no directory")
		require.ErrorIs(t, failures[0], fs.ErrNotExist)
		require.NoError(t, os.Mkdir(filepath.Join(dir, "sub"), 0o700))
		time.Sleep(time.Minute)
		require.Equal(t, 2, saved(), "it is tried again")

		require.NoError(t, os.Remove(file.path))
		time.Sleep(5 * time.Minute)
		require.Equal(t, -1, saved(), "nothing has changed")
		_, err = store.Apply(podOps(3), "60")
		require.NoError(t, err)
		cancel()
		require.NoError(t, <-ended)
		require.Equal(t, 3, saved())
	})
}

func TestNewSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	_, err := New("", JSON[int](), Options{Resource: "pods"})
	require.ErrorContains(t, err, "needs a path")
	_, err = New("x", Codec[int]{}, Options{Resource: "pods"})
	require.ErrorContains(t, err, "needs a codec")
	_, err = New("x", JSON[int](), Options{Resource: "pods", MaxBytes: -1})
	require.ErrorContains(t, err, "MaxBytes")
}

// Who is killed again and again while saving does not fill the disk.
func TestSaveRemovesWhatWasLeftBehind(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	old := time.Now().Add(-2 * time.Hour)
	for name, modified := range map[string]time.Time{
		"pods.123.tmp": old, "pods.124.tmp": time.Now(), // by another process, just now
		"pods.mine.tmp": old, "nodes.125.tmp": old,
	} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, nil, 0o600))
		require.NoError(t, os.Chtimes(path, modified, modified))
	}
	require.NoError(t, podFile(t, filepath.Join(dir, "pods"), Options{}).Save(podStore(t, 1).Reader))
	var names []string
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	require.Equal(t, []string{"nodes.125.tmp", "pods", "pods.124.tmp", "pods.mine.tmp"}, names)
}

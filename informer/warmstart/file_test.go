package warmstart

import (
	"encoding/binary"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"github.com/kinform/kinform/indexer"
	"github.com/kinform/kinform/informer/warmstart/testdata/own/v1"
	"github.com/kinform/kinform/internal/testing/testsize"
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

// here describes a source of pods.
var here = map[string]string{
	"server": "https://10.0.0.1", "cluster": "4f1c", "user": "ab12", "resource": "/v1/pods",
	"namespace": "", "labelSelector": "", "fieldSelector": "", "projection": "",
}

// put writes a file with a store's objects, for a source with this description.
func put[T any](t testing.TB, file *File[T], source map[string]string, store *indexer.Store[T]) error {
	content, err := file.headerFor(source)
	require.NoError(t, err)
	snapshot := store.Snapshot()
	defer snapshot.Release()
	content.ResourceVersion, content.Count = snapshot.ResourceVersion(), snapshot.Len()
	return file.replace(snapshot, content, savedState[T]{revision: snapshot.Revision()}, func() error { return nil })
}

func podFile(t testing.TB, path string, opts Options) *File[*corev1.Pod] {
	file, err := New(path, Protobuf[corev1.Pod](), opts)
	require.NoError(t, err)
	return file
}

func TestFileHoldsAStore(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pods")
	for _, n := range []int{0, 1, 300} {
		store := podStore(t, n)
		file := podFile(t, path, Options{})
		require.NoError(t, put(t, file, here, store))
		entries, version, err := podFile(t, path, Options{}).load(here)
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
	require.Len(t, names, 1, "no temporary file is left")
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
	file, err := New(filepath.Join(t.TempDir(), "widgets"), JSON[*unstructured.Unstructured](), Options{})
	require.NoError(t, err)
	require.NoError(t, put(t, file, here, store))
	entries, _, err := file.load(here)
	require.NoError(t, err)
	require.Equal(t, widget, entries[0].Object)
}

func TestFileOfAnotherSourceIsNotLoaded(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pods")
	require.NoError(t, put(t, podFile(t, path, Options{}), here, podStore(t, 3)))
	other := func(name, value string) map[string]string {
		source := maps.Clone(here)
		source[name] = value
		return source
	}
	refused := func(err error, want string) {
		t.Helper()
		require.ErrorIs(t, err, ErrMismatch)
		require.ErrorContains(t, err, want)
	}
	for name := range here {
		_, _, err := podFile(t, path, Options{}).load(other(name, "x"))
		refused(err, fmt.Sprintf("the source's %s is %q instead of \"x\"", name, here[name]))
	}
	_, _, err := podFile(t, path, Options{}).load(other("new", ""))
	refused(err, "the source's new is")
	_, _, err = podFile(t, path, Options{Source: "x"}).load(nil)
	refused(err, "the source's cluster is")
	_, _, err = podFile(t, path, Options{Source: "x"}).load(here)
	refused(err, `Options.Source is "" instead of "x"`)
	_, _, err = podFile(t, path, Options{Projection: "slim"}).load(here)
	refused(err, `Options.Projection is "" instead of "slim"`)
	nodes, err := New(path, Protobuf[corev1.Node](), Options{})
	require.NoError(t, err)
	_, _, err = nodes.load(here)
	refused(err, `Go type is "*k8s.io/api/core/v1.Pod" instead of "*k8s.io/api/core/v1.Node"`)
	own, err := New(path, Codec[*v1.Pod]{
		Name:   "protobuf",
		Encode: func(*v1.Pod) ([]byte, error) { return nil, nil },
		Decode: func([]byte) (*v1.Pod, error) { return new(v1.Pod), nil },
	}, Options{})
	require.NoError(t, err)
	_, _, err = own.load(here)
	refused(err, `Go type is "*k8s.io/api/core/v1.Pod" instead of "*github.com/kinform/kinform/informer/warmstart/testdata/own/v1.Pod"`)
	inJSON, err := New(path, JSON[*corev1.Pod](), Options{})
	require.NoError(t, err)
	_, _, err = inJSON.load(here)
	refused(err, `codec is`)
}

func TestFileOfOtherFieldsOrLibraryIsNotLoaded(t *testing.T) {
	t.Parallel()
	file := podFile(t, "unused", Options{})
	want, err := file.headerFor(here)
	require.NoError(t, err)
	require.Regexp(t, `^v\d+\.\d+\.\d+`, moduleVersion(&debug.BuildInfo{Deps: []*debug.Module{{Path: "k8s.io/api", Version: "v0.37.2"}}}, "k8s.io/api"))
	require.Equal(t, "v0.37.2 example.com/fork v0.1.0", moduleVersion(&debug.BuildInfo{Deps: []*debug.Module{
		{Path: "k8s.io/apimachinery", Version: "v0.37.1"},
		{Path: "k8s.io/api", Version: "v0.37.2", Replace: &debug.Module{Path: "example.com/fork", Version: "v0.1.0"}},
	}}, "k8s.io/api"))
	require.Empty(t, moduleVersion(&debug.BuildInfo{}, "k8s.io/api"))
	for name, change := range map[string]func(*header){
		"version of k8s.io/api":     func(h *header) { h.API = "v0.1.0" },
		"hash of the type's fields": func(h *header) { h.Fields = "x" },
	} {
		found := want
		change(&found)
		require.Contains(t, found.difference(want), name+" is")
	}

	type before struct {
		Name string `json:"name"`
		Next *before
	}
	type after struct {
		Name  string `json:"name"`
		Next  *after
		Added map[string][2]int
	}
	hashes := map[string]bool{}
	for _, t := range []reflect.Type{
		reflect.TypeFor[before](), reflect.TypeFor[after](), reflect.TypeFor[*before](), reflect.TypeFor[map[string]before](),
		reflect.TypeFor[struct{ A, B int }](), reflect.TypeFor[struct{ A, B int32 }](), reflect.TypeFor[struct {
			A int
			B int `json:"b"`
		}](), reflect.TypeFor[[2]int](), reflect.TypeFor[[3]int](), reflect.TypeFor[corev1.Pod](), reflect.TypeFor[v1.Pod](),
	} {
		hashes[fieldsOf(t)] = true
	}
	require.Len(t, hashes, 11)
	require.Equal(t, fieldsOf(reflect.TypeFor[corev1.Pod]()), fieldsOf(reflect.TypeFor[corev1.Pod]()))
	require.Equal(t, "map[string][]*k8s.io/api/core/v1.Pod", typeName(reflect.TypeFor[map[string][]*corev1.Pod]()))
}

// If the cluster is unknown, the files of two clusters could be confused.
func TestFileOfAnUnknownSourceIsNeitherWrittenNorRead(t *testing.T) {
	t.Parallel()
	hidden := maps.Clone(here)
	hidden["cluster"] = ""
	const part = `cluster="" resource="/v1/pods"`
	for _, source := range []map[string]string{
		nil, {}, hidden,
		{"part 1 of 2": `cluster="4f1c"`, "part 2 of 2": part},
		{"part 1 of 1": fmt.Sprintf("part 1 of 1=%q", part)},
		{"part 1 of 1": fmt.Sprintf("part 1 of 1=%q", fmt.Sprintf("part 1 of 1=%q", part))},
	} {
		path := filepath.Join(t.TempDir(), "pods")
		_, err := podFile(t, path, Options{}).headerFor(source)
		require.ErrorIs(t, err, ErrUnknownSource)
		named := podFile(t, path, Options{Source: "cluster 7"})
		require.NoError(t, put(t, named, source, podStore(t, 1)))
		_, _, err = podFile(t, path, Options{}).load(source)
		require.ErrorIs(t, err, ErrUnknownSource)
		_, _, err = podFile(t, path, Options{Source: "cluster 8"}).load(source)
		require.ErrorIs(t, err, ErrMismatch)
		entries, _, err := named.load(source)
		require.NoError(t, err)
		require.Len(t, entries, 1)
	}
}

func TestDamagedFileIsNeverLoaded(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pods")
	file := podFile(t, path, Options{})
	_, _, err := file.load(here)
	require.ErrorIs(t, err, fs.ErrNotExist)

	require.NoError(t, put(t, file, here, podStore(t, 3)))
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	load := func(data []byte) error {
		require.NoError(t, os.WriteFile(path, data, 0o600))
		entries, version, err := file.load(here)
		require.Empty(t, entries)
		require.Empty(t, version)
		return err
	}
	step := testsize.Scale(1, 23)
	for n := 0; n < len(whole); n += step { // truncated anywhere
		require.ErrorIs(t, load(whole[:n]), ErrDamaged, n)
	}
	for n := 0; n < len(whole); n += step { // one flipped bit anywhere
		data := slices.Clone(whole)
		data[n] ^= 4
		err := load(data)
		require.Error(t, err)
		if n < len(magic) || n >= len(magic)+4 {
			require.ErrorIs(t, err, ErrDamaged, n)
		}
	}
	require.ErrorIs(t, load(append(slices.Clone(whole), 0)), ErrDamaged)

	for version, want := range map[uint32]string{1: "format 1 of an earlier release", format + 1: "format 3 is of a later release"} {
		changed := slices.Clone(whole)
		binary.BigEndian.PutUint32(changed[len(magic):], version)
		err := load(changed)
		require.ErrorIs(t, err, ErrFormat)
		require.ErrorContains(t, err, want)
	}

	require.NoError(t, os.WriteFile(path, whole, 0o600))
	_, _, err = file.load(here)
	require.NoError(t, err)
	_, _, err = podFile(t, path, Options{MaxBytes: int64(len(whole)) - 1}).load(here)
	require.ErrorContains(t, err, "more than Options.MaxBytes")
}

func TestSaveThatFailsLeavesTheOldFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pods")
	file := podFile(t, path, Options{})
	require.NoError(t, put(t, file, here, podStore(t, 3)))
	broken := podFile(t, path, Options{})
	broken.codec.Encode = func(*corev1.Pod) ([]byte, error) { return nil, fmt.Errorf("no") }
	require.ErrorContains(t, put(t, broken, here, podStore(t, 5)), "shop/pod-")
	entries, _, err := file.load(here)
	require.NoError(t, err)
	require.Len(t, entries, 3)
	names, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, names, 1)
}

func TestNewSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	_, err := New("", JSON[int](), Options{})
	require.ErrorContains(t, err, "needs a path")
	_, err = New("x", Codec[int]{}, Options{})
	require.ErrorContains(t, err, "needs a codec")
	_, err = New("x", JSON[int](), Options{MaxBytes: -1})
	require.ErrorContains(t, err, "MaxBytes")
}

// A process that is killed repeatedly while it saves does not fill the disk.
func TestSaveRemovesAbandonedFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	old := time.Now().Add(-2 * time.Hour)
	for name, modified := range map[string]time.Time{
		"pods.123.tmp": old, "pods.124.tmp": time.Now(), // from another process, just now
		"pods.mine.tmp": old, "nodes.125.tmp": old,
	} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, nil, 0o600))
		require.NoError(t, os.Chtimes(path, modified, modified))
	}
	require.NoError(t, put(t, podFile(t, filepath.Join(dir, "pods"), Options{}), here, podStore(t, 1)))
	var names []string
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	require.Equal(t, []string{"nodes.125.tmp", "pods", "pods.124.tmp", "pods.mine.tmp"}, names)
}

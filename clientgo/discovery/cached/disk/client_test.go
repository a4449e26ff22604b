package disk_test

import (
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"k8s.io/klog/v2"

	"github.com/kinform/kinform/apitest"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/disk"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestMain(m *testing.M) {
	klog.SetSlogLogger(slog.New(slog.DiscardHandler)) // failures are logged with klog
	goleak.VerifyTestMain(m)
}

// countingServer serves requests from an API server or from its own documents, and counts them.
type countingServer struct {
	*httptest.Server

	mu        sync.Mutex // guards following
	requests  map[string]int
	tags      []string // If-None-Match headers of the requests
	documents map[string]http.HandlerFunc
}

func newCountingServer(t *testing.T, options apitest.Options) *countingServer {
	t.Helper()
	f := &countingServer{requests: map[string]int{}, documents: map[string]http.HandlerFunc{}}
	api := apitest.Start(t, options)
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		f.requests[r.URL.Path]++
		if tag := r.Header.Get("If-None-Match"); tag != "" {
			f.tags = append(f.tags, tag)
		}
		document := f.documents[r.URL.Path]
		f.mu.Unlock()
		if document != nil {
			document(w, r)
			return
		}
		api.ServeHTTP(w, r)
	}))
	t.Cleanup(f.Close)
	return f
}

func (f *countingServer) set(path string, document http.HandlerFunc) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.documents[path] = document
}

// requestCounts returns the number of requests for each path since the last call.
func (f *countingServer) requestCounts() map[string]int {
	f.mu.Lock()
	defer f.mu.Unlock()
	asked := f.requests
	f.requests = map[string]int{}
	return asked
}

// etags returns the If-None-Match headers of the requests since the last call.
func (f *countingServer) etags() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	tags := f.tags
	f.tags = nil
	return tags
}

func (f *countingServer) config(t *testing.T) *rest.Config {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &rest.Config{Host: f.URL, Transport: transport, QPS: -1, BearerToken: "secret-token"}
}

func (f *countingServer) client(t *testing.T, discoveryDir, httpDir string) *disk.CachedDiscoveryClient {
	t.Helper()
	c, err := disk.NewCachedDiscoveryClientForConfig(f.config(t), discoveryDir, httpDir, time.Hour)
	require.NoError(t, err)
	return c
}

func files(t *testing.T, directory string) map[string]string {
	t.Helper()
	contents := map[string]string{}
	require.NoError(t, filepath.WalkDir(directory, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		name, _ := filepath.Rel(directory, path)
		contents[filepath.ToSlash(name)] = string(data)
		return err
	}))
	return contents
}

func TestAResponseInFlightIsNotCachedAfterInvalidate(t *testing.T) {
	f, directory := newCountingServer(t, apitest.Options{}), t.TempDir()
	arrived, release := make(chan struct{}), make(chan struct{})
	respond := func(name string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(`{"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"` + name + `","versions":[{"groupVersion":"` + name + `/v1","version":"v1"}]}]}`))
		}
	}
	f.set("/api", func(w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) })
	f.set("/apis", func(w http.ResponseWriter, r *http.Request) {
		close(arrived)
		<-release
		respond("old")(w, r)
	})
	c := f.client(t, directory, "")
	named := func() string {
		groups, err := c.ServerGroups()
		require.NoError(t, err)
		require.Len(t, groups.Groups, 1)
		return groups.Groups[0].Name
	}
	first := make(chan string)
	go func() { first <- named() }()
	<-arrived
	c.Invalidate()
	f.set("/apis", respond("new"))
	require.Equal(t, "new", named())
	close(release)
	require.Equal(t, "old", <-first, "a call from before Invalidate gets the old document")
	require.Equal(t, "new", named())
	require.Contains(t, files(t, directory)["servergroups.json"], "new")
}

func TestAnotherRunUsesTheCacheFiles(t *testing.T) {
	f, directory := newCountingServer(t, apitest.Options{}), filepath.Join(t.TempDir(), "discovery")
	first := f.client(t, directory, "")
	groups, lists, err := first.ServerGroupsAndResources()
	require.NoError(t, err)
	require.True(t, first.Fresh())
	require.Equal(t, map[string]int{"/api": 1, "/apis": 1}, f.requestCounts())
	written := files(t, directory)
	require.True(t, strings.HasPrefix(written["servergroups.json"], `{"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"","versions":[{"groupVersion":"v1"`))
	require.True(t, strings.HasPrefix(written["apps/v1/serverresources.json"], `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"apps/v1","resources":[`))
	require.Len(t, written, len(lists)+1)
	info, err := os.Stat(filepath.Join(directory, "v1", "serverresources.json"))
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o660), info.Mode().Perm())

	second := f.client(t, directory, "")
	require.True(t, second.Fresh())
	sameGroups, sameLists, err := second.ServerGroupsAndResources()
	require.NoError(t, err)
	require.Equal(t, groups, sameGroups)
	require.Len(t, sameLists, len(lists))
	require.Equal(t, lists[1].APIResources, sameLists[1].APIResources)
	preferred, err := second.ServerPreferredResources()
	require.NoError(t, err)
	require.NotEmpty(t, preferred)
	_, err = second.ServerPreferredNamespacedResources()
	require.NoError(t, err)
	require.Empty(t, f.requestCounts())
	require.False(t, second.Fresh(), "another client wrote the documents")

	second.Invalidate()
	require.True(t, second.Fresh())
	_, err = second.ServerResourcesForGroupVersion("apps/v1")
	require.NoError(t, err)
	require.Equal(t, map[string]int{"/api": 1, "/apis": 1}, f.requestCounts())
	require.True(t, second.Fresh())
	require.Same(t, second, second.WithLegacy())
	_, err = second.ServerVersion()
	require.NoError(t, err)
	_, err = second.OpenAPISchema()
	require.NoError(t, err)
	paths, err := second.OpenAPIV3().Paths()
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	require.NotNil(t, second.RESTClient())
}

// If the files of an earlier run do not have a kind, a mapper requests the documents from the
// server.
func TestAMapperFindsKindsNewerThanTheFiles(t *testing.T) {
	server := apitest.Start(t, apitest.Options{})
	directory := t.TempDir()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	mapperOf := func() *restmapper.DeferredDiscoveryRESTMapper {
		c, err := disk.NewCachedDiscoveryClientForConfig(&rest.Config{Host: server.URL(), Transport: transport}, directory, "", time.Hour)
		require.NoError(t, err)
		return restmapper.NewDeferredDiscoveryRESTMapper(c)
	}
	_, err := mapperOf().RESTMapping(schema.GroupKind{Kind: "Pod"})
	require.NoError(t, err)
	require.NoError(t, server.AddResource(apitest.Resource{Group: "example.com", Version: "v1", Plural: "widgets", Kind: "Widget"}))
	_, err = mapperOf().RESTMapping(schema.GroupKind{Group: "example.com", Kind: "Widget"})
	require.NoError(t, err)
}

func TestInvalidFilesAreIgnored(t *testing.T) {
	for name, spoil := range map[string]func(file string) error{
		"empty":        func(file string) error { return os.WriteFile(file, nil, 0o600) },
		"broken":       func(file string) error { return os.WriteFile(file, []byte(`{"kind":`), 0o600) },
		"other kind":   func(file string) error { return os.WriteFile(file, []byte(`{"kind":"Pod","apiVersion":"v1"}`), 0o600) },
		"old":          func(file string) error { at := time.Now().Add(-2 * time.Hour); return os.Chtimes(file, at, at) },
		"of tomorrow":  func(file string) error { at := time.Now().Add(24 * time.Hour); return os.Chtimes(file, at, at) },
		"gone":         os.Remove,
		"a directory":  func(file string) error { _ = os.Remove(file); return os.Mkdir(file, 0o700) },
		"not readable": func(file string) error { _ = os.Remove(file); return os.Symlink("/nowhere", file) },
	} {
		f, directory := newCountingServer(t, apitest.Options{}), t.TempDir()
		_, want, err := f.client(t, directory, "").ServerGroupsAndResources()
		require.NoError(t, err, name)
		for file := range files(t, directory) {
			require.NoError(t, spoil(filepath.Join(directory, filepath.FromSlash(file))), name)
		}
		f.requestCounts()
		c := f.client(t, directory, "")
		_, lists, err := c.ServerGroupsAndResources()
		require.NoError(t, err, name)
		require.Len(t, lists, len(want), name)
		require.True(t, c.Fresh(), name)
		require.Equal(t, map[string]int{"/api": 1, "/apis": 1}, f.requestCounts(), name)
	}
}

// A failed response is not written to a file, and the next call sends another request.
func TestFailuresAreNotWritten(t *testing.T) {
	f, directory := newCountingServer(t, apitest.Options{NoAggregatedDiscovery: true}), t.TempDir()
	f.set("/apis/apps/v1", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "down", http.StatusServiceUnavailable) })
	f.set("/apis/batch/v1", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"batch/v1","resources":[]}`))
	})
	c := f.client(t, directory, "")
	_, lists, err := c.ServerGroupsAndResources()
	failed, _ := discovery.GroupDiscoveryFailedErrorGroups(err)
	require.Len(t, failed, 2)
	require.NotEmpty(t, lists)
	written := files(t, directory)
	require.NotContains(t, written, "apps/v1/serverresources.json")
	require.NotContains(t, written, "batch/v1/serverresources.json")
	f.set("/apis/apps/v1", nil)
	_, err = c.ServerResourcesForGroupVersion("apps/v1")
	require.NoError(t, err)
	require.Contains(t, files(t, directory), "apps/v1/serverresources.json")
}

// Names that a server returns become file names.
func TestAServerCannotChooseTheFiles(t *testing.T) {
	f, outside := newCountingServer(t, apitest.Options{}), t.TempDir()
	directory := filepath.Join(outside, "a", "b")
	f.set("/apis", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", discovery.AcceptV2)
		_, _ = w.Write([]byte(`{"items":[{"metadata":{"name":"../.."},"versions":[{"version":"v1","resources":[{"resource":"foos","scope":"Cluster","responseKind":{"kind":"Foo"}}]}]},
			{"metadata":{"name":"c:"},"versions":[{"version":"..","resources":[{"resource":"foos","scope":"Cluster","responseKind":{"kind":"Foo"}}]}]}]}`))
	})
	c := f.client(t, directory, "")
	_, lists, err := c.ServerGroupsAndResources()
	require.True(t, err == nil || discovery.IsGroupDiscoveryFailedError(err))
	require.NotEmpty(t, lists)
	for _, name := range []string{"../..", "../../x", "a/../../../v1", `..\..\x`, "/etc", "c:/v1"} {
		_, _ = c.ServerResourcesForGroupVersion(name)
	}
	for name := range files(t, outside) {
		require.True(t, strings.HasPrefix(name, "a/b/"), name)
	}
	require.NoError(t, os.WriteFile(filepath.Join(outside, "serverresources.json"), []byte(`{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"v1"}`), 0o600))
	_, err = f.client(t, directory, "").ServerResourcesForGroupVersion("../..")
	require.Error(t, err)
}

func TestSeveralClientsAtOnce(t *testing.T) {
	f, directory := newCountingServer(t, apitest.Options{}), t.TempDir()
	clients := []*disk.CachedDiscoveryClient{f.client(t, directory, directory), f.client(t, directory, directory)}
	var running sync.WaitGroup
	for i := range 8 {
		c := clients[i%2]
		running.Go(func() {
			for j := range 5 {
				_, lists, err := c.ServerGroupsAndResources()
				require.NoError(t, err)
				require.NotEmpty(t, lists)
				_ = c.Fresh()
				if i == j {
					c.Invalidate()
				}
			}
		})
	}
	running.Wait()
	for name := range files(t, directory) {
		require.False(t, strings.Contains(name, ".json."), "no temporary file is left: %s", name)
	}
}

// If the directory is not writable, the client sends more requests but still works.
func TestADirectoryThatCannotBeWritten(t *testing.T) {
	f := newCountingServer(t, apitest.Options{})
	blocked := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(blocked, nil, 0o600))
	c := f.client(t, filepath.Join(blocked, "d"), filepath.Join(blocked, "h"))
	_, lists, err := c.ServerGroupsAndResources()
	require.NoError(t, err)
	require.NotEmpty(t, lists)
}

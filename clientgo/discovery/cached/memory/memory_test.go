package memory_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/klog/v2"

	"github.com/kinform/kinform/apitest"

	"k8s.io/client-go/discovery"
	oldmemory "k8s.io/client-go/discovery/cached"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/rest"
)

func TestMain(m *testing.M) {
	klog.SetSlogLogger(slog.New(slog.DiscardHandler)) // failures are logged with klog
	goleak.VerifyTestMain(m)
}

// countingServer is an API server that records requests. Requests that a test selects fail.
type countingServer struct {
	*httptest.Server

	mu       sync.Mutex // guards following
	requests []string
	faults   map[string]http.HandlerFunc
}

func newCountingServer(t *testing.T, options apitest.Options) *countingServer {
	t.Helper()
	f := &countingServer{faults: map[string]http.HandlerFunc{}}
	api := apitest.Start(t, options)
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		f.mu.Lock()
		f.requests = append(f.requests, r.URL.Path)
		fault := f.faults[r.URL.Path]
		f.mu.Unlock()
		if fault != nil {
			fault(w, r)
			return
		}
		api.ServeHTTP(w, r)
	}))
	t.Cleanup(f.Close)
	return f
}

func (f *countingServer) fail(path string, with http.HandlerFunc) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults[path] = with
}

// requestCounts returns the number of requests for each path since the last call.
func (f *countingServer) requestCounts() map[string]int {
	f.mu.Lock()
	defer f.mu.Unlock()
	times := map[string]int{}
	for _, path := range f.requests {
		times[path]++
	}
	f.requests = nil
	return times
}

func (f *countingServer) client(t *testing.T) *discovery.DiscoveryClient {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return discovery.NewDiscoveryClientForConfigOrDie(&rest.Config{Host: f.URL, Transport: transport, QPS: -1})
}

func code(status int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "fault", status) }
}

func document(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(body))
	}
}

var twoDocuments = map[string]int{"/api": 1, "/apis": 1}

func TestDiscoveryIsRequestedOnceUntilInvalidate(t *testing.T) {
	f := newCountingServer(t, apitest.Options{})
	c := memory.NewMemCacheClient(f.client(t))
	require.False(t, c.Fresh())
	for range 2 {
		groups, err := c.ServerGroups()
		require.NoError(t, err)
		require.NotEmpty(t, groups.Groups)
		list, err := c.ServerResourcesForGroupVersion("apps/v1")
		require.NoError(t, err)
		require.NotEmpty(t, list.APIResources)
		_, lists, err := c.ServerGroupsAndResources()
		require.NoError(t, err)
		require.NotEmpty(t, lists)
		_, err = c.ServerPreferredResources()
		require.NoError(t, err)
		_, err = c.ServerPreferredNamespacedResources()
		require.NoError(t, err)
		_, err = c.ServerResourcesForGroupVersion("none/v1")
		require.ErrorIs(t, err, memory.ErrCacheNotFound)
		//lint:ignore SA1019 both names are tried
		require.ErrorIs(t, err, oldmemory.ErrCacheNotFound)
		_, resources, failed, err := c.(discovery.AggregatedDiscoveryInterface).GroupsAndMaybeResources()
		require.NoError(t, err)
		require.Empty(t, failed)
		require.NotEmpty(t, resources)
		clear(resources) // the map is a copy
		require.True(t, c.Fresh())
	}
	require.Equal(t, twoDocuments, f.requestCounts())
	c.Invalidate()
	require.False(t, c.Fresh())
	require.Empty(t, f.requestCounts())
	_, err := c.ServerResourcesForGroupVersion("v1")
	require.NoError(t, err)
	require.Equal(t, twoDocuments, f.requestCounts())
	require.Same(t, c, c.WithLegacy())
	require.NotNil(t, c.RESTClient())
	_, err = c.ServerVersion()
	require.NoError(t, err)
	_, err = c.OpenAPISchema()
	require.NoError(t, err)
}

func TestEachVersionOfALegacyServerIsRequestedOnce(t *testing.T) {
	f := newCountingServer(t, apitest.Options{NoAggregatedDiscovery: true})
	c := memory.NewMemCacheClient(f.client(t))
	for range 2 {
		_, lists, err := c.ServerGroupsAndResources()
		require.NoError(t, err)
		require.NotEmpty(t, lists)
	}
	asked := f.requestCounts()
	require.Equal(t, 1, asked["/api/v1"])
	require.Equal(t, 1, asked["/apis/apps/v1"])
	groups, resources, failed, err := c.(discovery.AggregatedDiscoveryInterface).GroupsAndMaybeResources()
	require.NoError(t, err)
	require.NotEmpty(t, groups.Groups)
	require.Nil(t, resources)
	require.Nil(t, failed)
	require.Empty(t, f.requestCounts())
}

// After a failure of the server, the next call sends another request. Any other response is cached.
func TestWhichFailuresOfAVersionAreCached(t *testing.T) {
	const path = "/apis/apps/v1"
	for name, test := range map[string]struct {
		fault      http.HandlerFunc
		remembered bool
	}{
		"unavailable":       {code(503), false},
		"too many requests": {code(429), false},
		"connection lost": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			w.WriteHeader(http.StatusOK)
		}, false},
		"not found":    {code(404), true},
		"bad request":  {code(400), true},
		"malformed":    {document("{"), true},
		"no resources": {document(`{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"apps/v1"}`), true},
	} {
		f := newCountingServer(t, apitest.Options{NoAggregatedDiscovery: true})
		f.fail(path, test.fault)
		c := memory.NewMemCacheClient(f.client(t))
		_, err := c.ServerResourcesForGroupVersion("v1")
		require.NoError(t, err, name)
		_, err = c.ServerResourcesForGroupVersion("apps/v1")
		require.Error(t, err, name)
		_, lists, err := c.ServerGroupsAndResources()
		require.True(t, discovery.IsGroupDiscoveryFailedError(err), name)
		require.NotEmpty(t, lists, name)
		require.True(t, c.Fresh(), name)

		f.fail(path, nil)
		_, err = c.ServerResourcesForGroupVersion("apps/v1")
		require.Equal(t, test.remembered, err != nil, "%s: %v", name, err)
		c.Invalidate()
		_, err = c.ServerResourcesForGroupVersion("apps/v1")
		require.NoError(t, err, name)
	}
}

func TestAFailedGroupListIsNotCached(t *testing.T) {
	f := newCountingServer(t, apitest.Options{})
	f.fail("/apis", code(503))
	c := memory.NewMemCacheClient(f.client(t))
	for range 2 {
		_, err := c.ServerGroups()
		require.True(t, apierrors.IsServiceUnavailable(err))
		_, err = c.ServerResourcesForGroupVersion("v1")
		require.True(t, apierrors.IsServiceUnavailable(err))
		require.False(t, c.Fresh())
	}
	f.fail("/apis", nil)
	_, err := c.ServerGroups()
	require.NoError(t, err)
}

func TestAStaleVersionIsAFailure(t *testing.T) {
	f := newCountingServer(t, apitest.Options{})
	f.fail("/apis", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", discovery.AcceptV2)
		_, _ = w.Write([]byte(`{"items":[{"metadata":{"name":"m"},"versions":[{"version":"v1","freshness":"Stale"}]}]}`))
	})
	c := memory.NewMemCacheClient(f.client(t))
	_, err := c.ServerResourcesForGroupVersion("m/v1")
	require.IsType(t, discovery.StaleGroupVersionError{}, err)
	_, _, failed, err := c.(discovery.AggregatedDiscoveryInterface).GroupsAndMaybeResources()
	require.NoError(t, err)
	require.Contains(t, failed, schema.GroupVersion{Group: "m", Version: "v1"})
}

// If the context of one caller ends, other callers are not affected, and this does not count as a
// failure of the server.
func TestACancelledCallerDoesNotAffectOthers(t *testing.T) {
	for _, options := range []apitest.Options{{}, {NoAggregatedDiscovery: true}} {
		f := newCountingServer(t, options)
		arrived, release := make(chan struct{}, 10), make(chan struct{})
		slow := "/apis"
		if options.NoAggregatedDiscovery {
			slow = "/apis/apps/v1"
		}
		f.fail(slow, func(w http.ResponseWriter, r *http.Request) {
			arrived <- struct{}{}
			select {
			case <-release:
			case <-r.Context().Done():
			}
			w.WriteHeader(http.StatusServiceUnavailable)
		})
		c := memory.NewMemCacheClientWithContext(f.client(t))
		ctx, cancel := context.WithCancel(t.Context())
		first := make(chan error)
		go func() { _, err := c.ServerResourcesForGroupVersionWithContext(ctx, "v1"); first <- err }()
		<-arrived
		second := make(chan error)
		go func() { _, err := c.ServerResourcesForGroupVersionWithContext(t.Context(), "v1"); second <- err }()
		impatient, stop := context.WithTimeout(t.Context(), time.Millisecond)
		_, err := c.ServerResourcesForGroupVersionWithContext(impatient, "v1")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		stop()
		c.InvalidateWithContext(t.Context()) // Invalidate does not wait for the server either
		f.fail(slow, nil)
		cancel()
		require.ErrorIs(t, <-first, context.Canceled)
		close(release)
		require.NoError(t, <-second)
		_, err = c.ServerResourcesForGroupVersionWithContext(t.Context(), "apps/v1")
		require.NoError(t, err)
	}
}

func TestOpenAPIDocumentsAreCached(t *testing.T) {
	f := newCountingServer(t, apitest.Options{})
	f.fail("/openapi/v3", code(503))
	c := memory.NewMemCacheClient(f.client(t))
	_, err := c.OpenAPIV3().Paths()
	require.True(t, apierrors.IsServiceUnavailable(err))
	f.fail("/openapi/v3", nil)
	f.requestCounts()
	for range 2 {
		paths, err := c.OpenAPIV3().Paths()
		require.NoError(t, err)
		for range 2 {
			body, err := paths["apis/apps/v1"].Schema("application/json")
			require.NoError(t, err)
			require.NotEmpty(t, body)
		}
	}
	require.Equal(t, map[string]int{"/openapi/v3": 1, "/openapi/v3/apis/apps/v1": 1}, f.requestCounts())
	require.Same(t, c.OpenAPIV3(), c.OpenAPIV3())
	c.Invalidate()
	_, err = c.OpenAPIV3().Paths()
	require.NoError(t, err)
	require.Equal(t, map[string]int{"/openapi/v3": 1}, f.requestCounts())
}

// staleCache is a cache to which the memory cache delegates, like the file cache. Its content is
// outdated until Invalidate.
type staleCache struct {
	discovery.CachedDiscoveryInterface
	invalidated int
}

func (s *staleCache) Invalidate() {
	s.invalidated++
	s.CachedDiscoveryInterface.Invalidate()
}

func TestAWrappedCacheIsInvalidatedToo(t *testing.T) {
	f := newCountingServer(t, apitest.Options{})
	beneath := memory.NewMemCacheClientWithContext(f.client(t))
	c := memory.NewMemCacheClientWithContext(beneath)
	_, err := c.ServerGroupsWithContext(t.Context())
	require.NoError(t, err)
	c.InvalidateWithContext(t.Context())
	require.False(t, beneath.FreshWithContext(t.Context()))

	old := &staleCache{CachedDiscoveryInterface: memory.NewMemCacheClient(f.client(t))}
	memory.NewMemCacheClient(old).Invalidate()
	require.Equal(t, 1, old.invalidated, "Invalidate reaches a delegate without contexts too")
}

// fakeDelegate is a server that returns no groups, or that returns groups and then fails.
type fakeDelegate struct {
	discovery.DiscoveryInterface
	groups        *metav1.APIGroupList
	err           error // of requests for versions
	groupRequests int   // number of requests for groups
}

func (a *fakeDelegate) ServerGroups() (*metav1.APIGroupList, error) {
	a.groupRequests++
	return a.groups, nil
}

func (a *fakeDelegate) ServerResourcesForGroupVersion(gv string) (*metav1.APIResourceList, error) {
	return &metav1.APIResourceList{GroupVersion: gv, APIResources: []metav1.APIResource{{Name: "a"}}}, a.err
}

func TestAnEmptyGroupListIsNotCached(t *testing.T) {
	a := &fakeDelegate{groups: &metav1.APIGroupList{}}
	c := memory.NewMemCacheClient(a)
	groups, err := c.ServerGroups()
	require.NoError(t, err)
	require.Empty(t, groups.Groups)
	require.False(t, c.Fresh(), "the cache is not fresh, so mappers send another request")
	_, err = c.ServerResourcesForGroupVersion("a/v1")
	require.ErrorIs(t, err, memory.ErrCacheNotFound)
	require.Equal(t, 2, a.groupRequests)

	a.groups = &metav1.APIGroupList{Groups: []metav1.APIGroup{{Name: "a", Versions: []metav1.GroupVersionForDiscovery{{GroupVersion: "a/v1", Version: "v1"}}}}}
	a.err = context.Canceled // cancelled by the program's own client
	_, err = c.ServerResourcesForGroupVersion("a/v1")
	require.ErrorIs(t, err, context.Canceled)
	require.True(t, c.Fresh())
	a.err = nil
	_, err = c.ServerResourcesForGroupVersion("a/v1")
	require.NoError(t, err, "an error that is not the server's is not cached")
}

// unaggregated hides that a client supports aggregated discovery.
type unaggregated struct{ discovery.DiscoveryInterface }

func TestAProgramsOwnDelegate(t *testing.T) {
	f := newCountingServer(t, apitest.Options{})
	//lint:ignore SA1019 both names are tried
	c := oldmemory.NewMemCacheClient(unaggregated{f.client(t)})
	for range 2 {
		_, lists, err := c.ServerGroupsAndResources()
		require.NoError(t, err)
		require.NotEmpty(t, lists)
	}
	require.Equal(t, 1, f.requestCounts()["/apis/apps/v1"])
}

func TestEverythingAtOnce(t *testing.T) {
	f := newCountingServer(t, apitest.Options{NoAggregatedDiscovery: true})
	f.fail("/apis/batch/v1", code(503))
	c := memory.NewMemCacheClient(f.client(t))
	var running sync.WaitGroup
	for i := range 8 {
		running.Go(func() {
			for j := range 20 {
				switch (i + j) % 5 {
				case 0:
					_, lists, err := c.ServerGroupsAndResources()
					require.True(t, discovery.IsGroupDiscoveryFailedError(err))
					require.NotEmpty(t, lists)
				case 1:
					list, err := c.ServerResourcesForGroupVersion("apps/v1")
					require.NoError(t, err)
					require.NotEmpty(t, list.APIResources)
				case 2:
					_, err := c.ServerResourcesForGroupVersion("batch/v1")
					require.Error(t, err)
				case 3:
					_ = c.Fresh()
					_, err := c.OpenAPIV3().Paths()
					require.NoError(t, err)
				case 4:
					if j%10 == 4 {
						c.Invalidate()
					}
				}
			}
		})
	}
	running.Wait()
	list, err := c.ServerResourcesForGroupVersion("v1")
	require.NoError(t, err)
	require.IsType(t, &metav1.APIResourceList{}, list)
}

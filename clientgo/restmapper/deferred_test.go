package restmapper_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kinform/kinform/apitest"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/restmapper"
)

// cache is a discovery cache whose freshness a test sets. It counts calls.
type cache struct {
	discovery.DiscoveryInterfaceWithContext
	staysStale bool

	mu          sync.Mutex // guards following
	fresh       bool
	invalidated int
	requests    int
}

func (c *cache) FreshWithContext(context.Context) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.fresh
}

func (c *cache) InvalidateWithContext(context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.invalidated++
	c.fresh = !c.staysStale
}

func (c *cache) counts() (asked, invalidated int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	asked, invalidated = c.requests, c.invalidated
	c.requests, c.invalidated = 0, 0
	return asked, invalidated
}

func TestADeferredMapperFindsNewKinds(t *testing.T) {
	server := apitest.Start(t, apitest.Options{})
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(clientOf(t, server)))
	kind, err := mapper.KindFor(resource("pods"))
	require.NoError(t, err)
	require.Equal(t, "Pod", kind.Kind)
	widget := schema.GroupKind{Group: "example.com", Kind: "Widget"}
	_, err = mapper.RESTMapping(widget)
	require.True(t, meta.IsNoMatchError(err))

	require.NoError(t, server.AddResource(apitest.Resource{Group: "example.com", Version: "v1", Plural: "widgets", Kind: "Widget"}))
	_, err = mapper.RESTMapping(widget)
	require.True(t, meta.IsNoMatchError(err), "a memory cache stays fresh after its first request; a program must reset the mapper")
	mapper.Reset()
	mapping, err := mapper.RESTMapping(widget)
	require.NoError(t, err)
	require.Equal(t, "widgets", mapping.Resource.Resource)
}

// If a lookup finds nothing and the cache may be outdated, the mapper refreshes the cache exactly
// once. This holds for every method.
func TestADeferredMapperRefreshesOnceOnAMiss(t *testing.T) {
	for _, staysStale := range []bool{false, true} {
		c := &cache{DiscoveryInterfaceWithContext: &faultyDiscovery{lists: lists()}, staysStale: staysStale}
		mapper := restmapper.NewDeferredDiscoveryRESTMapperWithContext(c)
		for name, ask := range map[string]func() error{
			"KindFor":              func() error { _, err := mapper.KindFor(resource("none")); return err },
			"KindsFor":             func() error { _, err := mapper.KindsFor(resource("none")); return err },
			"ResourceFor":          func() error { _, err := mapper.ResourceFor(resource("none")); return err },
			"ResourcesFor":         func() error { _, err := mapper.ResourcesFor(resource("none")); return err },
			"RESTMapping":          func() error { _, err := mapper.RESTMapping(schema.GroupKind{Kind: "None"}); return err },
			"RESTMappings":         func() error { _, err := mapper.RESTMappings(schema.GroupKind{Kind: "None"}); return err },
			"ResourceSingularizer": func() error { _, err := mapper.ResourceSingularizer("none"); return err },
		} {
			c.fresh = false
			require.True(t, meta.IsNoMatchError(ask()), name)
			_, invalidated := c.counts()
			require.Equal(t, 1, invalidated, name)
			c.fresh = true
			require.True(t, meta.IsNoMatchError(ask()), name)
			_, invalidated = c.counts()
			require.Zero(t, invalidated, name)
		}
		singular, err := mapper.ResourceSingularizer("none")
		require.Error(t, err)
		require.Equal(t, "none", singular)
	}
}

func TestErrorsOfADeferredMapper(t *testing.T) {
	boom := errors.New("boom")
	server := &faultyDiscovery{err: boom}
	mapper := restmapper.NewDeferredDiscoveryRESTMapperWithContext(&cache{DiscoveryInterfaceWithContext: server})
	_, err := mapper.RESTMapping(schema.GroupKind{Kind: "Pod"})
	require.ErrorIs(t, err, boom)
	singular, err := mapper.ResourceSingularizer("pods")
	require.ErrorIs(t, err, boom)
	require.Equal(t, "pods", singular)
	require.Equal(t, "DeferredDiscoveryRESTMapper{boom}", mapper.String())
	server.lists = lists()
	_, err = mapper.RESTMapping(schema.GroupKind{Kind: "Pod"})
	require.NoError(t, err, "errors are not cached")
	require.True(t, strings.HasPrefix(mapper.String(), "DeferredDiscoveryRESTMapper{\n"))

	mapper.Reset()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = mapper.RESTMappingWithContext(ctx, schema.GroupKind{Kind: "Pod"})
	require.ErrorIs(t, err, context.Canceled)
	_, err = mapper.RESTMappingWithContext(t.Context(), schema.GroupKind{Kind: "Pod"})
	require.NoError(t, err)
}

func TestADeferredMapperIsSafeForConcurrentUse(t *testing.T) {
	server := apitest.Start(t, apitest.Options{})
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(clientOf(t, server)))
	var running sync.WaitGroup
	for i := range 8 {
		running.Go(func() {
			for j := range 10 {
				if i == 0 && j%3 == 0 {
					mapper.Reset()
				}
				kind, err := mapper.KindFor(resource("deployments"))
				require.NoError(t, err)
				require.Equal(t, "Deployment", kind.Kind)
				_, err = mapper.ResourceFor(resource("none"))
				require.True(t, meta.IsNoMatchError(err))
			}
		})
	}
	running.Wait()
}

package memory

import (
	"context"
	"errors"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/internal/once"
	"k8s.io/client-go/internal/openapiv2"
	"k8s.io/client-go/openapi"
	"k8s.io/client-go/openapi/cached"
	"k8s.io/client-go/rest"
)

// ErrCacheNotFound is the error of a group version that was not among the server's groups at the
// last request for them.
var ErrCacheNotFound = errors.New("not found")

// memoryClient caches the results of a delegate. Callers share the results, and must not change
// them.
type memoryClient struct {
	delegate discovery.DiscoveryInterfaceWithContext
	// the delegate if it is a cache too, or nil
	delegateCache discovery.CachedDiscoveryInterfaceWithContext
	snapshot      once.Value[*snapshot]

	mu      sync.Mutex // guards following
	openAPI *cached.Client
}

var (
	_ discovery.CachedDiscoveryInterface                = &memoryClient{}
	_ discovery.CachedDiscoveryInterfaceWithContext     = &memoryClient{}
	_ discovery.AggregatedDiscoveryInterface            = &memoryClient{}
	_ discovery.AggregatedDiscoveryInterfaceWithContext = &memoryClient{}
)

// NewMemCacheClient returns a client that requests groups and resources from delegate on first use,
// and again after Invalidate. For a group version missing from that result, the error is
// ErrCacheNotFound, even if the server has added the group version since. If delegate is a cache,
// Invalidate also invalidates delegate.
func NewMemCacheClient(delegate discovery.DiscoveryInterface) discovery.CachedDiscoveryInterface {
	c := &memoryClient{delegate: discovery.ToDiscoveryInterfaceWithContext(delegate)}
	if cache, ok := delegate.(discovery.CachedDiscoveryInterface); ok {
		c.delegateCache = discovery.ToCachedDiscoveryInterfaceWithContext(cache)
	}
	return c
}

// NewMemCacheClientWithContext is NewMemCacheClient for a delegate that takes contexts.
func NewMemCacheClientWithContext(delegate discovery.DiscoveryInterfaceWithContext) discovery.CachedDiscoveryInterfaceWithContext {
	c := &memoryClient{delegate: delegate}
	c.delegateCache, _ = delegate.(discovery.CachedDiscoveryInterfaceWithContext)
	return c
}

func (c *memoryClient) cachedSnapshot(ctx context.Context) (*snapshot, error) {
	known, err := c.snapshot.Get(ctx, func(ctx context.Context) (*snapshot, error) { return fetchSnapshot(ctx, c.delegate) })
	if errors.Is(err, errNoGroups) {
		return known, nil
	}
	return known, err
}

// Fresh reports whether the cache has results. All results were requested after the client was made
// or last invalidated.
func (c *memoryClient) Fresh() bool { return c.snapshot.Known() }

// FreshWithContext is Fresh.
func (c *memoryClient) FreshWithContext(context.Context) bool { return c.Fresh() }

// Invalidate is InvalidateWithContext.
func (c *memoryClient) Invalidate() { c.InvalidateWithContext(context.Background()) }

// InvalidateWithContext drops all results, and invalidates a delegate that is a cache. A result
// that is being fetched during the call is not cached.
func (c *memoryClient) InvalidateWithContext(ctx context.Context) {
	if c.delegateCache != nil {
		// before the results below, so that a request sent between the two lines is not cached
		c.delegateCache.InvalidateWithContext(ctx)
	}
	c.snapshot.Forget()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.openAPI = nil
}

// RESTClient returns the delegate's REST client.
func (c *memoryClient) RESTClient() rest.Interface { return c.delegate.RESTClient() }

// ServerGroups is ServerGroupsWithContext without a context.
func (c *memoryClient) ServerGroups() (*metav1.APIGroupList, error) {
	return c.ServerGroupsWithContext(context.Background())
}

// ServerGroupsWithContext implements discovery.ServerGroupsInterfaceWithContext.
func (c *memoryClient) ServerGroupsWithContext(ctx context.Context) (*metav1.APIGroupList, error) {
	known, err := c.cachedSnapshot(ctx)
	if err != nil {
		return nil, err
	}
	return known.groups, nil
}

// GroupsAndMaybeResources is GroupsAndMaybeResourcesWithContext without a context.
func (c *memoryClient) GroupsAndMaybeResources() (*metav1.APIGroupList, map[schema.GroupVersion]*metav1.APIResourceList, map[schema.GroupVersion]error, error) {
	return c.GroupsAndMaybeResourcesWithContext(context.Background())
}

// GroupsAndMaybeResourcesWithContext returns the groups, and the resources and failures that the
// server sent together with the groups. It omits resources that the client had to request for each
// group version.
func (c *memoryClient) GroupsAndMaybeResourcesWithContext(ctx context.Context) (*metav1.APIGroupList, map[schema.GroupVersion]*metav1.APIResourceList, map[schema.GroupVersion]error, error) {
	known, err := c.cachedSnapshot(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	resources, failed := known.aggregated()
	return known.groups, resources, failed, nil
}

// ServerResourcesForGroupVersion is ServerResourcesForGroupVersionWithContext without a context.
func (c *memoryClient) ServerResourcesForGroupVersion(groupVersion string) (*metav1.APIResourceList, error) {
	return c.ServerResourcesForGroupVersionWithContext(context.Background(), groupVersion)
}

// ServerResourcesForGroupVersionWithContext returns the resources of a group version. If the
// previous request failed and another request may succeed, it sends another request.
func (c *memoryClient) ServerResourcesForGroupVersionWithContext(ctx context.Context, groupVersion string) (*metav1.APIResourceList, error) {
	known, err := c.cachedSnapshot(ctx)
	if err != nil {
		return nil, err
	}
	v, ok := known.versions[groupVersion]
	if !ok {
		return nil, ErrCacheNotFound
	}
	return v.resources(ctx, c.delegate)
}

// ServerGroupsAndResources is ServerGroupsAndResourcesWithContext without a context.
func (c *memoryClient) ServerGroupsAndResources() ([]*metav1.APIGroup, []*metav1.APIResourceList, error) {
	return c.ServerGroupsAndResourcesWithContext(context.Background())
}

// ServerGroupsAndResourcesWithContext implements discovery.ServerResourcesInterfaceWithContext.
func (c *memoryClient) ServerGroupsAndResourcesWithContext(ctx context.Context) ([]*metav1.APIGroup, []*metav1.APIResourceList, error) {
	return discovery.ServerGroupsAndResourcesWithContext(ctx, c)
}

// ServerPreferredResources is ServerPreferredResourcesWithContext without a context.
func (c *memoryClient) ServerPreferredResources() ([]*metav1.APIResourceList, error) {
	return c.ServerPreferredResourcesWithContext(context.Background())
}

// ServerPreferredResourcesWithContext implements discovery.ServerResourcesInterfaceWithContext.
func (c *memoryClient) ServerPreferredResourcesWithContext(ctx context.Context) ([]*metav1.APIResourceList, error) {
	return discovery.ServerPreferredResourcesWithContext(ctx, c)
}

// ServerPreferredNamespacedResources is ServerPreferredNamespacedResourcesWithContext without a
// context.
func (c *memoryClient) ServerPreferredNamespacedResources() ([]*metav1.APIResourceList, error) {
	return c.ServerPreferredNamespacedResourcesWithContext(context.Background())
}

// ServerPreferredNamespacedResourcesWithContext implements
// discovery.ServerResourcesInterfaceWithContext.
func (c *memoryClient) ServerPreferredNamespacedResourcesWithContext(ctx context.Context) ([]*metav1.APIResourceList, error) {
	return discovery.ServerPreferredNamespacedResourcesWithContext(ctx, c)
}

// ServerVersion is ServerVersionWithContext without a context.
func (c *memoryClient) ServerVersion() (*version.Info, error) {
	return c.ServerVersionWithContext(context.Background())
}

// ServerVersionWithContext sends a request on each call.
func (c *memoryClient) ServerVersionWithContext(ctx context.Context) (*version.Info, error) {
	return c.delegate.ServerVersionWithContext(ctx)
}

// OpenAPISchema is OpenAPISchemaWithContext without a context.
func (c *memoryClient) OpenAPISchema() (*openapiv2.Document, error) {
	return c.OpenAPISchemaWithContext(context.Background())
}

// OpenAPISchemaWithContext sends a request on each call.
func (c *memoryClient) OpenAPISchemaWithContext(ctx context.Context) (*openapiv2.Document, error) {
	return c.delegate.OpenAPISchemaWithContext(ctx)
}

// OpenAPIV3 returns a client that caches documents. After Invalidate it returns another client.
func (c *memoryClient) OpenAPIV3() openapi.Client { return c.documents(context.Background()) }

// OpenAPIV3WithContext is OpenAPIV3 for calls with contexts.
func (c *memoryClient) OpenAPIV3WithContext(ctx context.Context) openapi.ClientWithContext {
	return c.documents(ctx)
}

func (c *memoryClient) documents(ctx context.Context) *cached.Client {
	// sends no request yet
	client := cached.NewClientWithContext(c.delegate.OpenAPIV3WithContext(ctx))
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.openAPI == nil {
		c.openAPI = client
	}
	return c.openAPI
}

// WithLegacy returns c. The delegate chooses between the aggregated and the legacy form.
func (c *memoryClient) WithLegacy() discovery.DiscoveryInterface { return c }

// WithLegacyWithContext returns c. The delegate chooses between the aggregated and the legacy form.
func (c *memoryClient) WithLegacyWithContext(context.Context) discovery.DiscoveryInterfaceWithContext {
	return c
}

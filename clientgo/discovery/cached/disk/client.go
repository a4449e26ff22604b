package disk

import (
	"context"
	"net/http"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/version"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/internal/openapiv2"
	"k8s.io/client-go/openapi"
	"k8s.io/client-go/rest"
)

// CachedDiscoveryClient caches discovery documents in files. It is safe for concurrent use, also by
// several programs. Callers share the returned documents, and must not change them.
type CachedDiscoveryClient struct {
	delegate  discovery.CachedDiscoveryInterfaceWithContext // caches in memory too
	directory string
	ttl       time.Duration

	mu sync.Mutex // guards following
	// files that this client has written since the last invalidation
	written map[string]struct{}
	// the number of invalidations; if it is not zero, only the files in written are valid
	generation int
	foreign    bool // a document came from a file that is not in written
}

var (
	_ discovery.CachedDiscoveryInterface            = &CachedDiscoveryClient{}
	_ discovery.CachedDiscoveryInterfaceWithContext = &CachedDiscoveryClient{}
)

// NewCachedDiscoveryClientForConfig returns a client for a server. Files in discoveryCacheDir are
// valid for ttl after they were written. The directory must be for this server only. httpCacheDir
// caches HTTP responses; if it is empty, they are not cached. The config is not changed.
func NewCachedDiscoveryClientForConfig(config *rest.Config, discoveryCacheDir, httpCacheDir string, ttl time.Duration) (*CachedDiscoveryClient, error) {
	if httpCacheDir != "" {
		config = rest.CopyConfig(config)
		config.Wrap(func(next http.RoundTripper) http.RoundTripper { return &transport{next: next, directory: httpCacheDir} })
	}
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	return &CachedDiscoveryClient{
		delegate: memory.NewMemCacheClientWithContext(client), directory: discoveryCacheDir, ttl: ttl, written: map[string]struct{}{},
	}, nil
}

// Fresh is FreshWithContext.
func (d *CachedDiscoveryClient) Fresh() bool { return d.FreshWithContext(context.Background()) }

// FreshWithContext reports whether all documents came from the server since the client was made or
// last invalidated. It returns false if a document came from a file that this client has not
// written.
func (d *CachedDiscoveryClient) FreshWithContext(context.Context) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return !d.foreign
}

// Invalidate is InvalidateWithContext.
func (d *CachedDiscoveryClient) Invalidate() { d.InvalidateWithContext(context.Background()) }

// InvalidateWithContext makes the client request every document from the server again. It does not
// delete the files, because other programs use them. This client replaces each file when it fetches
// the document again. If a document is being fetched during the call, it is not stored.
func (d *CachedDiscoveryClient) InvalidateWithContext(ctx context.Context) {
	d.delegate.InvalidateWithContext(ctx)
	d.mu.Lock()
	defer d.mu.Unlock()
	clear(d.written)
	d.generation++
	d.foreign = false
}

// RESTClient returns the client that sends the requests.
func (d *CachedDiscoveryClient) RESTClient() rest.Interface { return d.delegate.RESTClient() }

// ServerGroups is ServerGroupsWithContext without a context.
func (d *CachedDiscoveryClient) ServerGroups() (*metav1.APIGroupList, error) {
	return d.ServerGroupsWithContext(context.Background())
}

// ServerGroupsWithContext returns the groups.
func (d *CachedDiscoveryClient) ServerGroupsWithContext(ctx context.Context) (*metav1.APIGroupList, error) {
	name, _ := d.file("", "servergroups.json")
	known := &metav1.APIGroupList{}
	found, since := d.read(name, "APIGroupList", known, &known.TypeMeta)
	if found {
		return known, nil
	}
	groups, err := d.delegate.ServerGroupsWithContext(ctx)
	if err != nil || groups == nil || len(groups.Groups) == 0 {
		return groups, err
	}
	d.write(ctx, name, since, &metav1.APIGroupList{TypeMeta: typeMeta("APIGroupList"), Groups: groups.Groups})
	return groups, nil
}

// ServerResourcesForGroupVersion is ServerResourcesForGroupVersionWithContext without a context.
func (d *CachedDiscoveryClient) ServerResourcesForGroupVersion(groupVersion string) (*metav1.APIResourceList, error) {
	return d.ServerResourcesForGroupVersionWithContext(context.Background(), groupVersion)
}

// ServerResourcesForGroupVersionWithContext returns the resources of a group version.
func (d *CachedDiscoveryClient) ServerResourcesForGroupVersionWithContext(ctx context.Context, groupVersion string) (*metav1.APIResourceList, error) {
	name, ok := d.file(groupVersion, "serverresources.json")
	if !ok {
		return d.delegate.ServerResourcesForGroupVersionWithContext(ctx, groupVersion)
	}
	known := &metav1.APIResourceList{}
	found, since := d.read(name, "APIResourceList", known, &known.TypeMeta)
	if found {
		return known, nil
	}
	list, err := d.delegate.ServerResourcesForGroupVersionWithContext(ctx, groupVersion)
	if err != nil || list == nil || len(list.APIResources) == 0 {
		return list, err
	}
	d.write(ctx, name, since, &metav1.APIResourceList{TypeMeta: typeMeta("APIResourceList"), GroupVersion: list.GroupVersion, APIResources: list.APIResources})
	return list, nil
}

// ServerGroupsAndResources is ServerGroupsAndResourcesWithContext without a context.
func (d *CachedDiscoveryClient) ServerGroupsAndResources() ([]*metav1.APIGroup, []*metav1.APIResourceList, error) {
	return d.ServerGroupsAndResourcesWithContext(context.Background())
}

// ServerGroupsAndResourcesWithContext returns all groups, and the resources of all their versions.
func (d *CachedDiscoveryClient) ServerGroupsAndResourcesWithContext(ctx context.Context) ([]*metav1.APIGroup, []*metav1.APIResourceList, error) {
	return discovery.ServerGroupsAndResourcesWithContext(ctx, d)
}

// ServerPreferredResources is ServerPreferredResourcesWithContext without a context.
func (d *CachedDiscoveryClient) ServerPreferredResources() ([]*metav1.APIResourceList, error) {
	return d.ServerPreferredResourcesWithContext(context.Background())
}

// ServerPreferredResourcesWithContext returns each resource once, in the version that the server
// prefers.
func (d *CachedDiscoveryClient) ServerPreferredResourcesWithContext(ctx context.Context) ([]*metav1.APIResourceList, error) {
	return discovery.ServerPreferredResourcesWithContext(ctx, d)
}

// ServerPreferredNamespacedResources is ServerPreferredNamespacedResourcesWithContext without a
// context.
func (d *CachedDiscoveryClient) ServerPreferredNamespacedResources() ([]*metav1.APIResourceList, error) {
	return d.ServerPreferredNamespacedResourcesWithContext(context.Background())
}

// ServerPreferredNamespacedResourcesWithContext is ServerPreferredResourcesWithContext for
// namespaced resources.
func (d *CachedDiscoveryClient) ServerPreferredNamespacedResourcesWithContext(ctx context.Context) ([]*metav1.APIResourceList, error) {
	return discovery.ServerPreferredNamespacedResourcesWithContext(ctx, d)
}

// ServerVersion is ServerVersionWithContext without a context.
func (d *CachedDiscoveryClient) ServerVersion() (*version.Info, error) {
	return d.ServerVersionWithContext(context.Background())
}

// ServerVersionWithContext sends a request on each call.
func (d *CachedDiscoveryClient) ServerVersionWithContext(ctx context.Context) (*version.Info, error) {
	return d.delegate.ServerVersionWithContext(ctx)
}

// OpenAPISchema is OpenAPISchemaWithContext without a context.
func (d *CachedDiscoveryClient) OpenAPISchema() (*openapiv2.Document, error) {
	return d.OpenAPISchemaWithContext(context.Background())
}

// OpenAPISchemaWithContext returns the OpenAPI v2 document. It is cached only if the client has an
// HTTP cache directory.
func (d *CachedDiscoveryClient) OpenAPISchemaWithContext(ctx context.Context) (*openapiv2.Document, error) {
	return d.delegate.OpenAPISchemaWithContext(ctx)
}

// OpenAPIV3 returns a client that caches documents in memory. After Invalidate it returns another
// client.
func (d *CachedDiscoveryClient) OpenAPIV3() openapi.Client {
	// the clients of package memory implement both interfaces
	return d.delegate.OpenAPIV3WithContext(context.Background()).(openapi.Client)
}

// OpenAPIV3WithContext is OpenAPIV3, for calls with contexts.
func (d *CachedDiscoveryClient) OpenAPIV3WithContext(ctx context.Context) openapi.ClientWithContext {
	return d.delegate.OpenAPIV3WithContext(ctx)
}

// WithLegacy returns d, because the files are the same for both forms.
func (d *CachedDiscoveryClient) WithLegacy() discovery.DiscoveryInterface { return d }

// WithLegacyWithContext returns d, because the files are the same for both forms.
func (d *CachedDiscoveryClient) WithLegacyWithContext(context.Context) discovery.DiscoveryInterfaceWithContext {
	return d
}

package discovery

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"

	"k8s.io/client-go/internal/openapiv2"
	"k8s.io/client-go/openapi"
	"k8s.io/client-go/rest"
)

// DiscoveryInterface returns the groups, versions and resources of an API server.
type DiscoveryInterface interface {
	RESTClient() rest.Interface
	ServerGroupsInterface
	ServerResourcesInterface
	ServerVersionInterface
	OpenAPISchemaInterface
	OpenAPIV3SchemaInterface
	// WithLegacy returns a client that requests only the legacy documents. A client that cannot
	// restrict its requests in this way returns itself.
	WithLegacy() DiscoveryInterface
}

// DiscoveryInterfaces has the methods without contexts and the methods with contexts.
type DiscoveryInterfaces interface {
	DiscoveryInterface
	DiscoveryInterfaceWithContext
}

// AggregatedDiscoveryInterface can return groups and resources together.
type AggregatedDiscoveryInterface interface {
	DiscoveryInterface

	// GroupsAndMaybeResources returns the groups. If the server sent resources with them, the first
	// map has the resources by group version; otherwise it is nil. The second map has the group
	// versions that failed.
	GroupsAndMaybeResources() (*metav1.APIGroupList, map[schema.GroupVersion]*metav1.APIResourceList, map[schema.GroupVersion]error, error)
}

// CachedDiscoveryInterface caches results until Invalidate.
type CachedDiscoveryInterface interface {
	DiscoveryInterface
	// Fresh reports whether all results came from the server since the client was made or last
	// invalidated. If Fresh is true, invalidating the cache does not help to find a missing
	// resource.
	Fresh() bool
	// Invalidate drops the results that were cached before the call.
	Invalidate()
}

// ServerGroupsInterface returns groups.
type ServerGroupsInterface interface {
	// ServerGroups returns the groups, each with its versions and its preferred version.
	ServerGroups() (*metav1.APIGroupList, error)
}

// ServerResourcesInterface returns resources. If the error is an *ErrGroupDiscoveryFailed, the
// results have everything that did not fail.
type ServerResourcesInterface interface {
	// ServerResourcesForGroupVersion returns the resources of a group version, such as "apps/v1" or
	// "v1".
	ServerResourcesForGroupVersion(groupVersion string) (*metav1.APIResourceList, error)
	// ServerGroupsAndResources returns all groups, and the resources of all their versions.
	ServerGroupsAndResources() ([]*metav1.APIGroup, []*metav1.APIResourceList, error)
	// ServerPreferredResources returns each resource once. If several versions have the resource,
	// it is in the version that the server prefers.
	ServerPreferredResources() ([]*metav1.APIResourceList, error)
	// ServerPreferredNamespacedResources is ServerPreferredResources for namespaced resources.
	ServerPreferredNamespacedResources() ([]*metav1.APIResourceList, error)
}

// ServerVersionInterface returns the release of a server.
type ServerVersionInterface interface {
	// ServerVersion returns the release that the server runs.
	ServerVersion() (*version.Info, error)
}

// OpenAPISchemaInterface returns the OpenAPI v2 document of a server.
type OpenAPISchemaInterface interface {
	// OpenAPISchema returns the whole document.
	OpenAPISchema() (*openapiv2.Document, error)
}

// OpenAPIV3SchemaInterface returns a client for the OpenAPI v3 documents of a server.
type OpenAPIV3SchemaInterface interface {
	// OpenAPIV3 returns the client. It sends no request yet.
	OpenAPIV3() openapi.Client
}

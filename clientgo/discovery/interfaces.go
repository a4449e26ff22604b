package discovery

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"

	"k8s.io/client-go/internal/openapiv2"
	"k8s.io/client-go/openapi"
	"k8s.io/client-go/rest"
)

// DiscoveryInterface says what an API server has.
type DiscoveryInterface interface {
	RESTClient() rest.Interface
	ServerGroupsInterface
	ServerResourcesInterface
	ServerVersionInterface
	OpenAPISchemaInterface
	OpenAPIV3SchemaInterface
	// WithLegacy returns a client that asks for the legacy documents only, or the same client if it cannot.
	WithLegacy() DiscoveryInterface
}

// DiscoveryInterfaces are both forms of a client: without and with contexts.
type DiscoveryInterfaces interface {
	DiscoveryInterface
	DiscoveryInterfaceWithContext
}

// AggregatedDiscoveryInterface can get groups and resources at once.
type AggregatedDiscoveryInterface interface {
	DiscoveryInterface

	// GroupsAndMaybeResources returns the groups. It returns resources too, by their group versions, if the server sent them along;
	// otherwise the first map is nil. The second map has the group versions that failed.
	GroupsAndMaybeResources() (*metav1.APIGroupList, map[schema.GroupVersion]*metav1.APIResourceList, map[schema.GroupVersion]error, error)
}

// CachedDiscoveryInterface remembers answers until Invalidate.
type CachedDiscoveryInterface interface {
	DiscoveryInterface
	// Fresh returns whether all answers were got from the server since the client was made or invalidated. If so, it is of no use to
	// invalidate it for something that is missing.
	Fresh() bool
	// Invalidate drops what was remembered before the call.
	Invalidate()
}

// ServerGroupsInterface returns groups.
type ServerGroupsInterface interface {
	// ServerGroups returns the groups, each with its versions and the preferred one.
	ServerGroups() (*metav1.APIGroupList, error)
}

// ServerResourcesInterface returns resources. Where the error is an *ErrGroupDiscoveryFailed, the results beside it have what did not
// fail.
type ServerResourcesInterface interface {
	// ServerResourcesForGroupVersion returns the resources of a group version, such as "apps/v1" or "v1".
	ServerResourcesForGroupVersion(groupVersion string) (*metav1.APIResourceList, error)
	// ServerGroupsAndResources returns all groups, and the resources of all their versions.
	ServerGroupsAndResources() ([]*metav1.APIGroup, []*metav1.APIResourceList, error)
	// ServerPreferredResources returns each resource once, in the version that the server prefers of those that have it.
	ServerPreferredResources() ([]*metav1.APIResourceList, error)
	// ServerPreferredNamespacedResources is ServerPreferredResources for resources that live in namespaces.
	ServerPreferredNamespacedResources() ([]*metav1.APIResourceList, error)
}

// ServerVersionInterface returns the version of a server.
type ServerVersionInterface interface {
	// ServerVersion returns which release the server runs.
	ServerVersion() (*version.Info, error)
}

// OpenAPISchemaInterface returns the OpenAPI v2 document of a server.
type OpenAPISchemaInterface interface {
	// OpenAPISchema returns the whole document.
	OpenAPISchema() (*openapiv2.Document, error)
}

// OpenAPIV3SchemaInterface returns a client for the OpenAPI v3 documents of a server.
type OpenAPIV3SchemaInterface interface {
	// OpenAPIV3 returns the client. It asks nothing yet.
	OpenAPIV3() openapi.Client
}

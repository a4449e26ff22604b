package fake

import (
	"context"
	"fmt"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/internal/openapiv2"
	"k8s.io/client-go/openapi"
	clientversion "k8s.io/client-go/pkg/version"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/testing"
)

// FakeDiscovery returns results from the Resources of a testing.Fake. For each call, the Fake
// records a "get" of "group", "resource" or "version". A reaction can set the error of a call, but
// not its result. Resources must not change during a call.
type FakeDiscovery struct {
	*testing.Fake
	// FakedServerVersion is the result of ServerVersion. Defaults to the version of the library.
	FakedServerVersion *version.Info
}

var _ discovery.DiscoveryInterfaces = &FakeDiscovery{}

// recordAction records an action, and returns the error of the first reaction.
func (c *FakeDiscovery) recordAction(resource string) error {
	_, err := c.Invokes(testing.ActionImpl{Verb: "get", Resource: schema.GroupVersionResource{Resource: resource}}, nil)
	return err
}

// ServerResourcesForGroupVersion is ServerResourcesForGroupVersionWithContext.
func (c *FakeDiscovery) ServerResourcesForGroupVersion(groupVersion string) (*metav1.APIResourceList, error) {
	return c.ServerResourcesForGroupVersionWithContext(context.Background(), groupVersion)
}

// ServerResourcesForGroupVersionWithContext returns the first list of a group version. It does not
// copy the list.
func (c *FakeDiscovery) ServerResourcesForGroupVersionWithContext(_ context.Context, groupVersion string) (*metav1.APIResourceList, error) {
	if err := c.recordAction("resource"); err != nil {
		return nil, err
	}
	for _, list := range c.Resources {
		if list.GroupVersion == groupVersion {
			return list, nil
		}
	}
	return nil, &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusNotFound, Reason: metav1.StatusReasonNotFound,
		Message: fmt.Sprintf("the server could not find the requested resource, GroupVersion %q not found", groupVersion),
	}}
}

// ServerGroupsAndResources is ServerGroupsAndResourcesWithContext.
func (c *FakeDiscovery) ServerGroupsAndResources() ([]*metav1.APIGroup, []*metav1.APIResourceList, error) {
	return c.ServerGroupsAndResourcesWithContext(context.Background())
}

// ServerGroupsAndResourcesWithContext returns the groups of all lists, and the lists themselves. If
// a reaction to "resource" returns an error, the groups and lists are returned together with that
// error.
func (c *FakeDiscovery) ServerGroupsAndResourcesWithContext(ctx context.Context) ([]*metav1.APIGroup, []*metav1.APIResourceList, error) {
	list, err := c.ServerGroupsWithContext(ctx)
	if err != nil {
		return nil, nil, err
	}
	groups := []*metav1.APIGroup{}
	for i := range list.Groups {
		groups = append(groups, &list.Groups[i])
	}
	return groups, c.Resources, c.recordAction("resource")
}

// ServerPreferredResources returns nothing.
func (c *FakeDiscovery) ServerPreferredResources() ([]*metav1.APIResourceList, error) {
	return nil, nil
}

// ServerPreferredResourcesWithContext returns nothing.
func (c *FakeDiscovery) ServerPreferredResourcesWithContext(context.Context) ([]*metav1.APIResourceList, error) {
	return nil, nil
}

// ServerPreferredNamespacedResources returns nothing.
func (c *FakeDiscovery) ServerPreferredNamespacedResources() ([]*metav1.APIResourceList, error) {
	return nil, nil
}

// ServerPreferredNamespacedResourcesWithContext returns nothing.
func (c *FakeDiscovery) ServerPreferredNamespacedResourcesWithContext(context.Context) ([]*metav1.APIResourceList, error) {
	return nil, nil
}

// ServerGroups is ServerGroupsWithContext.
func (c *FakeDiscovery) ServerGroups() (*metav1.APIGroupList, error) {
	return c.ServerGroupsWithContext(context.Background())
}

// ServerGroupsWithContext returns the groups of all lists in order. The first version of a group is
// its preferred version.
func (c *FakeDiscovery) ServerGroupsWithContext(context.Context) (*metav1.APIGroupList, error) {
	if err := c.recordAction("group"); err != nil {
		return nil, err
	}
	groups := &metav1.APIGroupList{}
	places := map[string]int{}
	for _, list := range c.Resources {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return nil, err
		}
		v := metav1.GroupVersionForDiscovery{GroupVersion: list.GroupVersion, Version: gv.Version}
		i, ok := places[gv.Group]
		if !ok {
			i = len(groups.Groups)
			places[gv.Group] = i
			groups.Groups = append(groups.Groups, metav1.APIGroup{Name: gv.Group, PreferredVersion: v})
		}
		groups.Groups[i].Versions = append(groups.Groups[i].Versions, v)
	}
	return groups, nil
}

// ServerVersion is ServerVersionWithContext.
func (c *FakeDiscovery) ServerVersion() (*version.Info, error) {
	return c.ServerVersionWithContext(context.Background())
}

// ServerVersionWithContext returns FakedServerVersion, or the version of the library.
func (c *FakeDiscovery) ServerVersionWithContext(context.Context) (*version.Info, error) {
	if err := c.recordAction("version"); err != nil {
		return nil, err
	}
	if c.FakedServerVersion != nil {
		return c.FakedServerVersion, nil
	}
	info := clientversion.Get()
	return &info, nil
}

// OpenAPISchema returns an empty document.
func (c *FakeDiscovery) OpenAPISchema() (*openapiv2.Document, error) {
	return &openapiv2.Document{}, nil
}

// OpenAPISchemaWithContext returns an empty document.
func (c *FakeDiscovery) OpenAPISchemaWithContext(context.Context) (*openapiv2.Document, error) {
	return &openapiv2.Document{}, nil
}

// OpenAPIV3 returns a client without documents.
func (c *FakeDiscovery) OpenAPIV3() openapi.Client { return noDocuments{} }

// OpenAPIV3WithContext returns a client without documents.
func (c *FakeDiscovery) OpenAPIV3WithContext(context.Context) openapi.ClientWithContext {
	return noDocuments{}
}

// RESTClient returns nil: there is no server.
func (c *FakeDiscovery) RESTClient() rest.Interface { return nil }

// WithLegacy returns c.
func (c *FakeDiscovery) WithLegacy() discovery.DiscoveryInterface { return c }

// WithLegacyWithContext returns c.
func (c *FakeDiscovery) WithLegacyWithContext(context.Context) discovery.DiscoveryInterfaceWithContext {
	return c
}

// noDocuments is an OpenAPI client that acts as if the server had no documents.
type noDocuments struct{}

func (noDocuments) Paths() (map[string]openapi.GroupVersion, error) {
	return map[string]openapi.GroupVersion{}, nil
}

func (noDocuments) PathsWithContext(context.Context) (map[string]openapi.GroupVersionWithContext, error) {
	return map[string]openapi.GroupVersionWithContext{}, nil
}

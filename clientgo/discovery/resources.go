package discovery

import (
	"context"
	"fmt"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	// attempts is the maximal number of times that a client requests all group versions if one
	// fails. The server of a group may be starting.
	attempts = 2

	// requestsAtOnce limits the load on a server without aggregated discovery, and the memory for
	// its responses.
	requestsAtOnce = 64
)

// ServerResourcesForGroupVersion is ServerResourcesForGroupVersionWithContext without a context.
func (d *DiscoveryClient) ServerResourcesForGroupVersion(groupVersion string) (resources *metav1.APIResourceList, err error) {
	return d.ServerResourcesForGroupVersionWithContext(context.Background(), groupVersion)
}

// ServerResourcesForGroupVersionWithContext returns the resources of a group version. If the server
// does not have "v1", the list of "v1" is empty.
func (d *DiscoveryClient) ServerResourcesForGroupVersionWithContext(ctx context.Context, groupVersion string) (resources *metav1.APIResourceList, err error) {
	if groupVersion == "" {
		return nil, fmt.Errorf("groupVersion shouldn't be empty")
	}
	for segment := range strings.SplitSeq(groupVersion, "/") {
		if segment == "." || segment == ".." {
			return nil, fmt.Errorf("groupVersion %.300q is not a path below that of the API", groupVersion)
		}
	}
	prefix := "/apis"
	if groupVersion == "v1" && d.LegacyPrefix != "" {
		prefix = d.LegacyPrefix
	}
	resources = &metav1.APIResourceList{GroupVersion: groupVersion}
	result := d.restClient.Get().AbsPath(prefix + "/" + groupVersion).Do(ctx)
	if body, err := result.Raw(); err == nil {
		if err := checkSize(groupVersion, body); err != nil {
			return nil, err
		}
	}
	err = result.Into(resources)
	if err != nil && !(groupVersion == "v1" && apierrors.IsNotFound(err)) {
		return nil, err
	}
	return resources, nil
}

// ServerGroupsAndResources is ServerGroupsAndResourcesWithContext without a context.
func (d *DiscoveryClient) ServerGroupsAndResources() ([]*metav1.APIGroup, []*metav1.APIResourceList, error) {
	return d.ServerGroupsAndResourcesWithContext(context.Background())
}

// ServerGroupsAndResourcesWithContext returns all groups, and the resources of all their versions.
// If a group version fails, it requests everything once more.
func (d *DiscoveryClient) ServerGroupsAndResourcesWithContext(ctx context.Context) (groups []*metav1.APIGroup, lists []*metav1.APIResourceList, err error) {
	for range attempts {
		groups, lists, err = ServerGroupsAndResourcesWithContext(ctx, d)
		if !IsGroupDiscoveryFailedError(err) {
			break
		}
	}
	return groups, lists, err
}

// ServerGroupsAndResources is ServerGroupsAndResourcesWithContext without a context.
func ServerGroupsAndResources(d DiscoveryInterface) ([]*metav1.APIGroup, []*metav1.APIResourceList, error) {
	return ServerGroupsAndResourcesWithContext(context.Background(), ToDiscoveryInterfaceWithContext(d))
}

// ServerGroupsAndResourcesWithContext returns all groups of a client, and the resources of all
// their versions, in the order of the groups. It requests each group version, unless the response
// with the groups has the resources too. If the error is an *ErrGroupDiscoveryFailed, the results
// have everything that did not fail. A cache may return groups together with an error; these groups
// are used.
func ServerGroupsAndResourcesWithContext(ctx context.Context, d DiscoveryInterfaceWithContext) ([]*metav1.APIGroup, []*metav1.APIResourceList, error) {
	found, err := groupsOf(ctx, d)
	if found.groups == nil {
		return nil, nil, err
	}
	found.fetch(ctx, d)
	groups := make([]*metav1.APIGroup, 0, len(found.groups.Groups))
	lists := []*metav1.APIResourceList{}
	for i := range found.groups.Groups {
		group := &found.groups.Groups[i]
		groups = append(groups, group)
		for _, v := range group.Versions {
			if list := found.resources[schema.GroupVersion{Group: group.Name, Version: v.Version}]; list != nil {
				lists = append(lists, list)
			}
		}
	}
	return groups, lists, found.error()
}

// groupsOf returns the groups of a client. It also returns their resources if the response with the
// groups has them. It may return both groups and an error.
func groupsOf(ctx context.Context, d DiscoveryInterfaceWithContext) (found document, err error) {
	if aggregated, ok := d.(AggregatedDiscoveryInterfaceWithContext); ok {
		found.groups, found.resources, found.failed, err = aggregated.GroupsAndMaybeResourcesWithContext(ctx)
	} else {
		found.groups, err = d.ServerGroupsWithContext(ctx)
	}
	return found, err
}

// error returns the failures as an error, or nil.
func (f *document) error() error {
	if len(f.failed) == 0 {
		return nil
	}
	return &ErrGroupDiscoveryFailed{Groups: f.failed}
}

// fetch requests the resources of each group version, unless f has resources already. It sends
// several requests at once, and returns when all requests have ended. Versions that the server
// marked as failed keep their errors. Versions with invalid names are not requested.
func (f *document) fetch(ctx context.Context, d DiscoveryInterfaceWithContext) {
	if f.resources != nil {
		return
	}
	f.resources = map[schema.GroupVersion]*metav1.APIResourceList{}
	failed := map[schema.GroupVersion]error{}
	for gv, err := range f.failed {
		failed[gv] = err
	}
	f.failed = failed

	var mu sync.Mutex // guards f's maps
	var running sync.WaitGroup
	free := make(chan struct{}, requestsAtOnce)
	for _, group := range f.groups.Groups {
		for _, v := range group.Versions {
			gv := schema.GroupVersion{Group: group.Name, Version: v.Version}
			if !isSegment(gv.Version) || gv.Group != "" && !isSegment(gv.Group) {
				mu.Lock()
				failed[gv] = fmt.Errorf("the server calls a group version %.300q, which is no name", gv)
				mu.Unlock()
				continue
			}
			free <- struct{}{}
			running.Go(func() {
				list, err := d.ServerResourcesForGroupVersionWithContext(ctx, gv.String())
				<-free
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					failed[gv] = err
				}
				if list != nil { // a cache may return an old list with the error
					f.resources[gv] = list
				}
			})
		}
	}
	running.Wait()
}

// isSegment reports whether a name from the server can be one segment of a path.
func isSegment(name string) bool {
	return name != "" && name != "." && name != ".." && len(name) <= 253 && !strings.ContainsAny(name, "/%?#")
}

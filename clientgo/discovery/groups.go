package discovery

import (
	"context"
	"encoding/json"
	"maps"

	apidiscovery "k8s.io/api/apidiscovery/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// document is the content of a response to /api or /apis.
type document struct {
	groups    *metav1.APIGroupList
	resources map[schema.GroupVersion]*metav1.APIResourceList // nil if the document has none
	failed    map[schema.GroupVersion]error                   // never nil
}

// ServerGroups is ServerGroupsWithContext without a context.
func (d *DiscoveryClient) ServerGroups() (*metav1.APIGroupList, error) {
	return d.ServerGroupsWithContext(context.Background())
}

// ServerGroupsWithContext returns the groups, the core group first.
func (d *DiscoveryClient) ServerGroupsWithContext(ctx context.Context) (*metav1.APIGroupList, error) {
	groups, _, _, err := d.GroupsAndMaybeResourcesWithContext(ctx)
	if err != nil {
		return nil, err
	}
	return groups, nil
}

// GroupsAndMaybeResources is GroupsAndMaybeResourcesWithContext without a context.
func (d *DiscoveryClient) GroupsAndMaybeResources() (
	*metav1.APIGroupList,
	map[schema.GroupVersion]*metav1.APIResourceList,
	map[schema.GroupVersion]error,
	error,
) {
	return d.GroupsAndMaybeResourcesWithContext(context.Background())
}

// GroupsAndMaybeResourcesWithContext returns the groups, the core group first. The resources are
// nil unless both /api and /apis returned them. The second map has the group versions that failed.
// It is nil only if an error is returned.
func (d *DiscoveryClient) GroupsAndMaybeResourcesWithContext(ctx context.Context) (
	*metav1.APIGroupList,
	map[schema.GroupVersion]*metav1.APIResourceList,
	map[schema.GroupVersion]error,
	error,
) {
	core, err := d.document(ctx, "/api", coreGroup)
	if err != nil {
		return nil, nil, nil, err
	}
	named, err := d.document(ctx, "/apis", namedGroups)
	if err != nil {
		return nil, nil, nil, err
	}
	core.groups.Groups = append(core.groups.Groups, named.groups.Groups...)
	maps.Copy(core.failed, named.failed)
	if core.resources == nil || named.resources == nil {
		return core.groups, nil, core.failed, nil
	}
	maps.Copy(core.resources, named.resources)
	return core.groups, core.resources, core.failed, nil
}

// document requests a document. A server without a core group, such as an extension API server, may
// not have /api.
func (d *DiscoveryClient) document(ctx context.Context, path string, legacy func([]byte) (*metav1.APIGroupList, error)) (document, error) {
	var contentType string
	body, err := d.restClient.Get().AbsPath(path).SetHeader("Accept", d.accept()).Do(ctx).ContentType(&contentType).Raw()
	switch {
	case apierrors.IsNotFound(err) && path == "/api":
		return document{&metav1.APIGroupList{}, map[schema.GroupVersion]*metav1.APIResourceList{}, map[schema.GroupVersion]error{}}, nil
	case err != nil:
		return document{}, err
	}
	if err := checkSize(path, body); err != nil {
		return document{}, err
	}
	if isAggregated(contentType) {
		var list apidiscovery.APIGroupDiscoveryList
		if err := json.Unmarshal(body, &list); err != nil {
			return document{}, err
		}
		groups, resources, failed := SplitGroupsAndResources(list)
		return document{groups, resources, failed}, nil
	}
	groups, err := legacy(body)
	if err == nil {
		err = checkVersions(path, groups)
	}
	if err != nil {
		return document{}, err
	}
	return document{groups, nil, map[schema.GroupVersion]error{}}, nil
}

// coreGroup decodes a legacy /api document.
func coreGroup(body []byte) (*metav1.APIGroupList, error) {
	var versions metav1.APIVersions
	if err := json.Unmarshal(body, &versions); err != nil {
		return nil, err
	}
	group := metav1.APIGroup{}
	for _, v := range versions.Versions {
		group.Versions = append(group.Versions, metav1.GroupVersionForDiscovery{GroupVersion: v, Version: v})
	}
	if len(group.Versions) > 0 {
		group.PreferredVersion = group.Versions[0] // the document does not mark a preferred version
	}
	return &metav1.APIGroupList{Groups: []metav1.APIGroup{group}}, nil
}

// namedGroups decodes a legacy /apis document.
func namedGroups(body []byte) (*metav1.APIGroupList, error) {
	groups := &metav1.APIGroupList{}
	if err := json.Unmarshal(body, groups); err != nil {
		return nil, err
	}
	return groups, nil
}

package restmapper

import (
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// NewDiscoveryRESTMapper returns a mapper of groups. If several resources match, it prefers the
// resource in core/v1. Next come the first group's preferred version and its other versions, then
// the versions of the second group, and so on. The result is a
// *meta.PriorityRESTMapper.
func NewDiscoveryRESTMapper(groupResources []*APIGroupResources) meta.RESTMapper {
	o := mapperPartsOf(groupResources)
	var versions meta.MultiRESTMapper
	for _, m := range o.mappers {
		versions = append(versions, m)
	}
	return &meta.PriorityRESTMapper{Delegate: versions, ResourcePriority: o.resources, KindPriority: o.kinds}
}

// NewDiscoveryRESTMapperWithContext is NewDiscoveryRESTMapper for calls with contexts. The mapper
// sends no requests.
func NewDiscoveryRESTMapperWithContext(groupResources []*APIGroupResources) meta.RESTMapperWithContext {
	o := mapperPartsOf(groupResources)
	var versions meta.MultiRESTMapperWithContext
	for _, m := range o.mappers {
		versions = append(versions, m)
	}
	return &meta.PriorityRESTMapperWithContext{Delegate: versions, ResourcePriority: o.resources, KindPriority: o.kinds}
}

// mapperParts has the parts of which apimachinery's priority mappers are made: a mapper for each
// version, and the order of preference.
type mapperParts struct {
	mappers   []*meta.DefaultRESTMapper
	resources []schema.GroupVersionResource
	kinds     []schema.GroupVersionKind
}

func mapperPartsOf(groups []*APIGroupResources) *mapperParts {
	o := &mapperParts{}
	o.prefer("", "v1") // core/v1 comes first, whatever the position of the core group
	for _, group := range groups {
		preferred := group.Group.PreferredVersion.Version
		if _, ok := group.VersionedResources[preferred]; ok && preferred != "" {
			o.prefer(group.Group.Name, preferred)
		}
		for _, v := range group.Group.Versions {
			resources, ok := group.VersionedResources[v.Version]
			if !ok {
				continue
			}
			if v.Version != preferred {
				o.prefer(group.Group.Name, v.Version)
			}
			o.mappers = append(o.mappers, mapperOf(schema.GroupVersion{Group: group.Group.Name, Version: v.Version}, resources))
		}
	}
	for _, group := range groups {
		o.prefer(group.Group.Name, meta.AnyVersion)
	}
	return o
}

// prefer appends a version to the order of preference.
func (o *mapperParts) prefer(group, version string) {
	o.resources = append(o.resources, schema.GroupVersionResource{Group: group, Version: version, Resource: meta.AnyResource})
	o.kinds = append(o.kinds, schema.GroupVersionKind{Group: group, Version: version, Kind: meta.AnyKind})
}

// mapperOf maps the resources of a version. For each kind it also maps the lower-case name of the
// kind, and the name with the suffix "List". It always maps the kind List.
func mapperOf(gv schema.GroupVersion, resources []metav1.APIResource) *meta.DefaultRESTMapper {
	mapper := meta.NewDefaultRESTMapper([]schema.GroupVersion{gv})
	mapper.Add(gv.WithKind("List"), meta.RESTScopeRoot)
	for i := range resources {
		r := &resources[i]
		if strings.Contains(r.Name, "/") {
			continue // a subresource has no mapping of its own
		}
		scope := meta.RESTScopeRoot
		if r.Namespaced {
			scope = meta.RESTScopeNamespace
		}
		singular := gv.WithResource(r.SingularName)
		if r.SingularName == "" {
			// guess the singular name, which old servers omit
			_, singular = meta.UnsafeGuessKindToResource(gv.WithKind(r.Kind))
		}
		plural := gv.WithResource(r.Name)
		// Add the kind itself last, because a lookup by resource returns the kind that was added
		// last.
		mapper.Add(gv.WithKind(r.Kind+"List"), scope)
		mapper.AddSpecific(gv.WithKind(strings.ToLower(r.Kind)), plural, singular, scope)
		mapper.AddSpecific(gv.WithKind(r.Kind), plural, singular, scope)
	}
	return mapper
}

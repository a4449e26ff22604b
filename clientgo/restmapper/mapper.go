package restmapper

import (
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// NewDiscoveryRESTMapper returns a mapper of groups. Where several resources match, it prefers those of core/v1; then the preferred
// version of the first group, its other versions, those of the second group, and so on. It is a *meta.PriorityRESTMapper.
func NewDiscoveryRESTMapper(groupResources []*APIGroupResources) meta.RESTMapper {
	o := orderOf(groupResources)
	var versions meta.MultiRESTMapper
	for _, m := range o.mappers {
		versions = append(versions, m)
	}
	return &meta.PriorityRESTMapper{Delegate: versions, ResourcePriority: o.resources, KindPriority: o.kinds}
}

// NewDiscoveryRESTMapperWithContext is NewDiscoveryRESTMapper, for calls with contexts. The mapper does not ask a server.
func NewDiscoveryRESTMapperWithContext(groupResources []*APIGroupResources) meta.RESTMapperWithContext {
	o := orderOf(groupResources)
	var versions meta.MultiRESTMapperWithContext
	for _, m := range o.mappers {
		versions = append(versions, m)
	}
	return &meta.PriorityRESTMapperWithContext{Delegate: versions, ResourcePriority: o.resources, KindPriority: o.kinds}
}

// order is what apimachinery's priority mappers are made of: a mapper for each version, and the order of preference.
type order struct {
	mappers   []*meta.DefaultRESTMapper
	resources []schema.GroupVersionResource
	kinds     []schema.GroupVersionKind
}

func orderOf(groups []*APIGroupResources) *order {
	o := &order{}
	o.prefer("", "v1") // wherever the core group is
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

// prefer puts a version behind those that are there.
func (o *order) prefer(group, version string) {
	o.resources = append(o.resources, schema.GroupVersionResource{Group: group, Version: version, Resource: meta.AnyResource})
	o.kinds = append(o.kinds, schema.GroupVersionKind{Group: group, Version: version, Kind: meta.AnyKind})
}

// mapperOf maps the resources of a version. A kind is found in lower case too, and with "List" at its end; and there is the kind List.
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
			_, singular = meta.UnsafeGuessKindToResource(gv.WithKind(r.Kind)) // old servers don't tell it
		}
		plural := gv.WithResource(r.Name)
		// The kind itself is the last, because what is added last is found for the resource.
		mapper.Add(gv.WithKind(r.Kind+"List"), scope)
		mapper.AddSpecific(gv.WithKind(strings.ToLower(r.Kind)), plural, singular, scope)
		mapper.AddSpecific(gv.WithKind(r.Kind), plural, singular, scope)
	}
	return mapper
}

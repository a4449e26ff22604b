package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/fake"
	"k8s.io/client-go/restmapper"
)

// fixedDiscovery is a server that returns fixed lists together with an error.
type fixedDiscovery struct {
	fake.FakeDiscovery
	lists    []*metav1.APIResourceList
	err      error
	requests int
}

func (f *fixedDiscovery) ServerGroupsAndResources() ([]*metav1.APIGroup, []*metav1.APIResourceList, error) {
	f.requests++
	if f.lists == nil {
		return nil, nil, f.err
	}
	var groups []*metav1.APIGroup
	for _, list := range f.lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			continue
		}
		v := metav1.GroupVersionForDiscovery{GroupVersion: list.GroupVersion, Version: gv.Version}
		i := slices.IndexFunc(groups, func(g *metav1.APIGroup) bool { return g.Name == gv.Group })
		if i < 0 {
			i = len(groups)
			groups = append(groups, &metav1.APIGroup{Name: gv.Group, PreferredVersion: v})
		}
		groups[i].Versions = append(groups[i].Versions, v)
	}
	return groups, f.lists, f.err
}

func (f *fixedDiscovery) ServerGroupsAndResourcesWithContext(context.Context) ([]*metav1.APIGroup, []*metav1.APIResourceList, error) {
	return f.ServerGroupsAndResources()
}

func mapped() []*metav1.APIResourceList {
	deployments := metav1.APIResource{Name: "deployments", SingularName: "deployment", Namespaced: true, Kind: "Deployment", ShortNames: []string{"deploy"}, Categories: []string{"all", "x"}}
	return []*metav1.APIResourceList{
		{GroupVersion: "metrics.k8s.io/v1", APIResources: []metav1.APIResource{{Name: "nodes", Kind: "NodeMetrics", ShortNames: []string{"po"}}, {Name: "dup", Kind: "Dup"}, {Name: "dup", Kind: "Dup2"}}},
		{GroupVersion: "apps/v1", APIResources: []metav1.APIResource{deployments, {Name: "deployments/scale", Namespaced: true, Group: "autoscaling", Version: "v1", Kind: "Scale"}, {Name: "amb", Kind: "Amb"}, {Name: "foreign", Group: "other", Version: "v3", Kind: "Foreign"}}},
		{GroupVersion: "apps/v1beta1", APIResources: []metav1.APIResource{{Name: "deployments", SingularName: "deployment", Namespaced: true, Kind: "Deployment", ShortNames: []string{"deploy"}, Categories: []string{"all"}}, {Name: "olds", Kind: "Old"}}},
		{GroupVersion: "v1", APIResources: []metav1.APIResource{
			{Name: "pods", SingularName: "pod", Namespaced: true, Kind: "Pod", ShortNames: []string{"po"}, Categories: []string{"all"}}, {Name: "pods/log", Namespaced: true, Kind: "Pod"},
			{Name: "nodes", SingularName: "node", Kind: "Node", ShortNames: []string{"no"}}, {Name: "amb", Kind: "Amb", Namespaced: true}}},
		{GroupVersion: "zz/v1", APIResources: []metav1.APIResource{{Name: "zs", SingularName: "oz", ShortNames: []string{"deploy", "no", "zs"}}, {Name: "ys", ShortNames: []string{"pods", "pod", "oz", "nodes"}}}},
	}
}

func tryMappers() {
	server := &fixedDiscovery{lists: mapped()}
	failed := &discovery.ErrGroupDiscoveryFailed{Groups: map[schema.GroupVersion]error{{Group: "x", Version: "v1"}: errors.New("x")}}
	for _, err := range []error{nil, failed, errors.New("other")} {
		for _, n := range []int{-1, 0, 2, 5} {
			block(fmt.Sprintf("resources of groups: %d lists, %s", n, kindOf(err)), func() {
				s := &fixedDiscovery{err: err}
				if n >= 0 {
					s.lists = slices.Clone(server.lists[:n])
				}
				groups, err := restmapper.GetAPIGroupResources(s)
				line(text(groups), kindOf(err))
			})
		}
	}
	groups, _ := restmapper.GetAPIGroupResources(server)
	backwards := slices.Clone(groups)
	slices.Reverse(backwards)
	for name, of := range map[string][]*restmapper.APIGroupResources{"in order": groups, "backwards": backwards, "nothing": nil} {
		tryMapper("mapper, "+name, restmapper.NewDiscoveryRESTMapper(of))
	}
	var warnings []string
	tryMapper("short names", restmapper.NewShortcutExpander(restmapper.NewDiscoveryRESTMapper(groups), server, func(w string) { warnings = append(warnings, w) }))
	block("warnings", func() {
		slices.Sort(warnings)
		line(slices.Compact(warnings))
	})
	tryDeferred()
	tryCategories()
}

func tryMapper(name string, mapper meta.RESTMapper) {
	for _, r := range []schema.GroupVersionResource{
		{Resource: "pods"}, {Resource: "pod"}, {Resource: "po"}, {Resource: "PODS"}, {Resource: "deployments"}, {Resource: "deploy"}, {Group: "app", Resource: "deployments"}, {Group: "app", Resource: "deploy"},
		{Group: "apps", Version: "v1beta1", Resource: "deployments"}, {Group: "apps", Version: "v1beta1", Resource: "deploy"}, {Group: "app", Version: "v1beta1", Resource: "deploy"}, {Group: "apps", Version: "v9", Resource: "deployments"},
		{Resource: "nodes"}, {Resource: "no"}, {Resource: "nothing"}, {Resource: "deployments/scale"}, {Resource: "olds"}, {Resource: "amb"}, {Resource: "dup"}, {Group: "metrics.k8s.io", Resource: "nodes"}, {Resource: ""},
		{Group: "zz", Resource: "pods"}, {Group: "z", Version: "v7", Resource: "nodes"}, {Resource: "oz"}, {Resource: "DEPLOY"},
	} {
		block(fmt.Sprintf("%s: %s", name, r), func() {
			kind, err := mapper.KindFor(r)
			line(kind, kindOf(err))
			kinds, err := mapper.KindsFor(r)
			line(kinds, kindOf(err))
			resource, err := mapper.ResourceFor(r)
			line(resource, kindOf(err))
			resources, err := mapper.ResourcesFor(r)
			line(resources, kindOf(err))
			singular, err := mapper.ResourceSingularizer(r.Resource)
			line(singular, kindOf(err))
		})
	}
	for _, kind := range []schema.GroupKind{
		{Kind: "Pod"}, {Kind: "pod"}, {Kind: "PodList"}, {Kind: "podlist"}, {Kind: "List"}, {Kind: "po"}, {Group: "apps", Kind: "Deployment"}, {Group: "apps", Kind: "Scale"}, {Group: "autoscaling", Kind: "Scale"}, {Group: "apps", Kind: "Old"}, {Group: "apps", Kind: "Foreign"}, {Kind: "Nothing"},
	} {
		for _, versions := range [][]string{nil, {"v1"}, {"v9"}, {"v9", "v1beta1"}, {"", "v1"}} {
			block(fmt.Sprintf("%s: %s %q", name, kind, versions), func() {
				mapping, err := mapper.RESTMapping(kind, versions...)
				if err == nil {
					line(mapping.Resource, mapping.GroupVersionKind, mapping.Scope.Name())
				}
				line(kindOf(err))
				mappings, err := mapper.RESTMappings(kind, versions...)
				for _, m := range mappings {
					line(m.Resource, m.GroupVersionKind, m.Scope.Name())
				}
				line(kindOf(err))
			})
		}
	}
}

// fakeCache is a discovery cache whose freshness a case sets.
type fakeCache struct {
	*fixedDiscovery
	fresh       bool
	invalidated int
}

func (c *fakeCache) Fresh() bool { return c.fresh }
func (c *fakeCache) Invalidate() { c.invalidated, c.fresh = c.invalidated+1, true }

func tryDeferred() {
	for _, fresh := range []bool{false, true} {
		for _, boom := range []error{nil, errors.New("boom")} {
			block(fmt.Sprintf("deferred mapper, fresh %t, %s", fresh, kindOf(boom)), func() {
				c := &fakeCache{fixedDiscovery: &fixedDiscovery{lists: mapped()}}
				if boom != nil {
					c.fixedDiscovery = &fixedDiscovery{err: boom}
				}
				mapper := restmapper.NewDeferredDiscoveryRESTMapper(c)
				for _, name := range []string{"pods", "none"} {
					for i, ask := range []func() (any, error){
						func() (any, error) { return mapper.KindFor(schema.GroupVersionResource{Resource: name}) },
						func() (any, error) { return mapper.KindsFor(schema.GroupVersionResource{Resource: name}) },
						func() (any, error) { return mapper.ResourceFor(schema.GroupVersionResource{Resource: name}) },
						func() (any, error) { return mapper.ResourcesFor(schema.GroupVersionResource{Resource: name}) },
						func() (any, error) { return mapper.RESTMapping(schema.GroupKind{Kind: name}) },
						func() (any, error) { return mapper.RESTMappings(schema.GroupKind{Kind: name}) },
						func() (any, error) { return mapper.ResourceSingularizer(name) },
					} {
						if i == 0 {
							mapper.Reset()
						}
						c.fresh, c.requests, c.invalidated = fresh, 0, 0
						_, err := ask()
						line(name, i, kindOf(err), meta.IsNoMatchError(err), c.invalidated)
					}
				}
			})
		}
	}
}

func tryCategories() {
	server := &fixedDiscovery{lists: mapped()}
	discovered := restmapper.NewDiscoveryCategoryExpander(server)
	simple := restmapper.SimpleCategoryExpander{Expansions: map[string][]schema.GroupResource{"all": {{Resource: "more"}, {Resource: "pods"}}, "empty": {}}}
	union := restmapper.UnionCategoryExpander{discovered, simple}
	for _, err := range []error{nil, errors.New("partial")} {
		for _, category := range []string{"all", "x", "empty", "none", ""} {
			block("category "+category+", "+kindOf(err), func() {
				server.err = err
				for _, expander := range []restmapper.CategoryExpander{discovered, simple, union, restmapper.UnionCategoryExpander{}} {
					found, ok := expander.Expand(category)
					line(found, found == nil, ok)
				}
			})
		}
	}
	block("categories of nothing", func() { restmapper.NewDiscoveryCategoryExpander(nil) })
}

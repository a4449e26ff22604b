package restmapper

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"k8s.io/client-go/discovery"
)

// CategoryExpander returns the resources of a category, such as "all".
type CategoryExpander interface {
	// Expand returns the resources of a category, or false if there is no such category.
	Expand(category string) ([]schema.GroupResource, bool)
}

// CategoryExpanderWithContext is CategoryExpander, with contexts.
type CategoryExpanderWithContext interface {
	// ExpandWithContext is CategoryExpander.Expand.
	ExpandWithContext(ctx context.Context, category string) ([]schema.GroupResource, bool)
}

// ToCategoryExpanderWithContext returns c itself if c takes contexts, and otherwise an adapter that
// ignores contexts.
func ToCategoryExpanderWithContext(c CategoryExpander) CategoryExpanderWithContext {
	if c == nil {
		return nil
	}
	if contextual, ok := c.(CategoryExpanderWithContext); ok {
		return contextual
	}
	return categoriesWithContext{c}
}

type categoriesWithContext struct{ CategoryExpander }

func (p categoriesWithContext) ExpandWithContext(_ context.Context, category string) ([]schema.GroupResource, bool) {
	return p.Expand(category)
}

// SimpleCategoryExpander looks up categories in a map.
type SimpleCategoryExpander struct {
	// Expansions has the resources by their categories.
	Expansions map[string][]schema.GroupResource
}

// Expand implements CategoryExpander.
func (e SimpleCategoryExpander) Expand(category string) ([]schema.GroupResource, bool) {
	found, ok := e.Expansions[category]
	return found, ok
}

// ExpandWithContext implements CategoryExpanderWithContext.
func (e SimpleCategoryExpander) ExpandWithContext(_ context.Context, category string) ([]schema.GroupResource, bool) {
	return e.Expand(category)
}

// discoveryCategories looks up categories on a server.
type discoveryCategories struct {
	client discovery.DiscoveryInterfaceWithContext
}

// NewDiscoveryCategoryExpander returns an expander that gets all resources from client on each
// call. client should be a cache. The results lack resources that could not be read. It panics if
// client is nil.
func NewDiscoveryCategoryExpander(client discovery.DiscoveryInterface) CategoryExpander {
	return newCategories(discovery.ToDiscoveryInterfaceWithContext(client))
}

// NewDiscoveryCategoryExpanderWithContext is NewDiscoveryCategoryExpander for a client that takes
// contexts.
func NewDiscoveryCategoryExpanderWithContext(client discovery.DiscoveryInterfaceWithContext) CategoryExpanderWithContext {
	return newCategories(client)
}

func newCategories(client discovery.DiscoveryInterfaceWithContext) discoveryCategories {
	if client == nil {
		panic("restmapper: a category expander needs a discovery client")
	}
	return discoveryCategories{client}
}

// Expand implements CategoryExpander.
func (e discoveryCategories) Expand(category string) ([]schema.GroupResource, bool) {
	return e.ExpandWithContext(context.Background(), category)
}

// ExpandWithContext implements CategoryExpanderWithContext.
func (e discoveryCategories) ExpandWithContext(ctx context.Context, category string) ([]schema.GroupResource, bool) {
	// the interface has no way to return an error
	_, lists, _ := e.client.ServerGroupsAndResourcesWithContext(ctx)
	var found []schema.GroupResource
	for _, list := range lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			continue
		}
		for i := range list.APIResources {
			r := &list.APIResources[i]
			if slices.Contains(r.Categories, category) {
				found = appendNew(found, schema.GroupResource{Group: gv.Group, Resource: r.Name})
			}
		}
	}
	return found, found != nil
}

// appendNew appends a resource unless it is already in the slice.
func appendNew(all []schema.GroupResource, r schema.GroupResource) []schema.GroupResource {
	if slices.Contains(all, r) {
		return all
	}
	return append(all, r)
}

// UnionCategoryExpander returns the union of the results of several expanders. The union has each
// resource once.
type UnionCategoryExpander []CategoryExpander

// Expand implements CategoryExpander.
func (u UnionCategoryExpander) Expand(category string) ([]schema.GroupResource, bool) {
	contextual := make(UnionCategoryExpanderWithContext, 0, len(u))
	for _, e := range u {
		contextual = append(contextual, categoriesWithContext{e})
	}
	return contextual.ExpandWithContext(context.Background(), category)
}

// UnionCategoryExpanderWithContext is UnionCategoryExpander for expanders that take contexts.
type UnionCategoryExpanderWithContext []CategoryExpanderWithContext

// ExpandWithContext implements CategoryExpanderWithContext.
func (u UnionCategoryExpanderWithContext) ExpandWithContext(ctx context.Context, category string) ([]schema.GroupResource, bool) {
	all, any := []schema.GroupResource{}, false
	for _, e := range u {
		found, ok := e.ExpandWithContext(ctx, category)
		any = any || ok
		for _, r := range found {
			all = appendNew(all, r)
		}
	}
	return all, any
}

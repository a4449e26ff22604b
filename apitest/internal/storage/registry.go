package storage

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// registry finds the served resources. It is guarded by Store.mu.
type registry struct {
	all    []*Resource // in the order of discovery
	byName map[schema.GroupVersionResource]*Resource
	byKind map[schema.GroupVersionKind]*Resource
}

func (g *registry) add(res *Resource) error {
	name := res.GroupVersionResource()
	if g.byName[name] != nil || g.byKind[res.GVK] != nil {
		return fmt.Errorf("resource %s of kind %s is served already", name, res.GVK)
	}
	if g.byName == nil {
		g.byName = make(map[schema.GroupVersionResource]*Resource)
		g.byKind = make(map[schema.GroupVersionKind]*Resource)
	}
	g.all = append(g.all, res)
	g.byName[name] = res
	g.byKind[res.GVK] = res
	return nil
}

// remove stops serving a resource and ends its watches.
func (g *registry) remove(res *Resource) {
	g.unlist(res)
	close(res.Removed)
}

// unlist stops serving a resource, but does not end its watches.
func (g *registry) unlist(res *Resource) {
	delete(g.byName, res.GroupVersionResource())
	delete(g.byKind, res.GVK)
	all := make([]*Resource, 0, len(g.all)) // A new slice: readers may use the old one.
	for _, r := range g.all {
		if r != res {
			all = append(all, r)
		}
	}
	g.all = all
}

// clone returns a copy of the registry that shares the resources.
func (g *registry) clone() registry {
	return registry{all: slices.Clip(slices.Clone(g.all)), byName: maps.Clone(g.byName), byKind: maps.Clone(g.byKind)}
}

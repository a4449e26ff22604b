package controller

import (
	"fmt"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/rest"
)

// clusterCaches are the caches of one cluster.
type clusterCaches struct {
	client  *rest.Client
	factory informer.Factory
	views   map[schema.GroupResource][]viewer // each viewer once; no slice is changed in place
}

// cacheID identifies a cache of a manager.
type cacheID struct {
	client  *rest.Client
	what    string
	objects reflect.Type
}

func cacheOf[T any](client *rest.Client, what informer.Selection) cacheID {
	what.Namespaces = slices.Compact(slices.Sorted(slices.Values(what.Namespaces)))
	return cacheID{client, what.String(), reflect.TypeFor[T]()}
}

// nameOf returns the unique name of a cache.
func (m *Manager) nameOf(id cacheID, wanted string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if name, known := m.names[id]; known {
		return name
	}
	taken := map[string]bool{}
	for _, name := range m.names {
		taken[name] = true
	}
	name := wanted
	for n := 2; taken[name]; n++ {
		name = fmt.Sprintf("%s~%d", wanted, n)
	}
	m.names[id] = name
	return name
}

// caches returns the caches of a cluster.
func (m *Manager) caches(client *rest.Client) *informer.Factory {
	m.mu.Lock()
	defer m.mu.Unlock()
	return &m.clusterLocked(client).factory
}

func (m *Manager) clusterLocked(client *rest.Client) *clusterCaches {
	for _, c := range m.factories {
		if c.client == client {
			return c
		}
	}
	c := &clusterCaches{client: client, views: map[schema.GroupResource][]viewer{}}
	m.factories = append(m.factories, c)
	return c
}

// addView registers a cache of a resource, so that writes of the resource wait for it.
func (m *Manager) addView(client *rest.Client, resource schema.GroupResource, v viewer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.clusterLocked(client)
	for _, other := range c.views[resource] {
		if other.cache() == v.cache() {
			return
		}
	}
	c.views[resource] = append(slices.Clip(c.views[resource]), v)
}

func (m *Manager) viewsOf(client *rest.Client, resource schema.GroupResource) []viewer {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.clusterLocked(client).views[resource]
}

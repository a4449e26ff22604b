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
	waiters map[schema.GroupResource][]cacheWaiter // one for each cache; slices are never changed
}

// cacheID identifies a cache of a manager.
type cacheID struct {
	client    *rest.Client
	selection string
	objects   reflect.Type
}

func cacheIDOf[T any](client *rest.Client, selection informer.Selection) cacheID {
	selection.Namespaces = slices.Compact(slices.Sorted(slices.Values(selection.Namespaces)))
	return cacheID{client, selection.String(), reflect.TypeFor[T]()}
}

// uniqueCacheName returns the unique name of a cache.
func (m *Manager) uniqueCacheName(id cacheID, wanted string) string {
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
	for _, c := range m.clusters {
		if c.client == client {
			return c
		}
	}
	c := &clusterCaches{client: client, waiters: map[schema.GroupResource][]cacheWaiter{}}
	m.clusters = append(m.clusters, c)
	return c
}

// addWaiter registers a cache of a resource, so that writes of the resource wait for it.
func (m *Manager) addWaiter(client *rest.Client, resource schema.GroupResource, v cacheWaiter) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.clusterLocked(client)
	for _, other := range c.waiters[resource] {
		if other.cache() == v.cache() {
			return
		}
	}
	c.waiters[resource] = append(slices.Clip(c.waiters[resource]), v)
}

func (m *Manager) waitersOf(client *rest.Client, resource schema.GroupResource) []cacheWaiter {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.clusterLocked(client).waiters[resource]
}

package cache

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// informerNames has the names in use, process-wide.
var informerNames struct {
	mu   sync.Mutex // guards following
	used map[string]*InformerName
}

// InformerName names the informers of one part of a program in metrics. A name can be in use only
// once per process at a time.
type InformerName struct {
	name string
	// resources has a flag for each resource. The flag is true until Release.
	mu        sync.Mutex // guards following
	resources map[schema.GroupVersionResource]*atomic.Bool
	released  bool
}

// NewInformerName reserves a name until Release. It returns an error if the name is empty or in
// use.
func NewInformerName(name string) (*InformerName, error) {
	if name == "" {
		return nil, errors.New("the name of an informer is empty")
	}
	informerNames.mu.Lock()
	defer informerNames.mu.Unlock()
	if informerNames.used[name] != nil {
		return nil, fmt.Errorf("the name %q of an informer is in use: choose another one, or call Release of the first", name)
	}
	n := &InformerName{name: name, resources: map[schema.GroupVersionResource]*atomic.Bool{}}
	if informerNames.used == nil {
		informerNames.used = map[string]*InformerName{}
	}
	informerNames.used[name] = n
	return n, nil
}

// Name returns the name. It is "" for a nil InformerName.
func (n *InformerName) Name() string {
	if n == nil {
		return ""
	}
	return n.name
}

// WithResource returns the identity of the informer of one resource. Only the identity from the
// first call for a resource is reserved, which means that its informer has metrics. A second
// informer with the same name and resource has no metrics, because they would overwrite the first
// informer's metrics.
func (n *InformerName) WithResource(gvr schema.GroupVersionResource) InformerNameAndResource {
	if n == nil {
		return InformerNameAndResource{}
	}
	id := InformerNameAndResource{name: n.name, gvr: gvr}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.released || n.resources[gvr] != nil {
		return id
	}
	id.reserved = &atomic.Bool{}
	id.reserved.Store(true)
	n.resources[gvr] = id.reserved
	return id
}

// Release frees the name and ends all its reservations.
func (n *InformerName) Release() {
	if n == nil {
		return
	}
	informerNames.mu.Lock()
	if informerNames.used[n.name] == n {
		delete(informerNames.used, n.name)
	}
	informerNames.mu.Unlock()
	n.revoke()
}

func (n *InformerName) revoke() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.released = true
	for _, reserved := range n.resources {
		reserved.Store(false)
	}
}

// InformerNameAndResource is the identity of an informer in metrics. The zero value means no
// metrics.
type InformerNameAndResource struct {
	name     string
	gvr      schema.GroupVersionResource
	reserved *atomic.Bool
}

// Reserved reports whether the informer has metrics. An informer has metrics if it is the first
// informer with its name and resource, and if its name is not released. Reserved takes no lock.
func (n InformerNameAndResource) Reserved() bool { return n.reserved != nil && n.reserved.Load() }

// Name returns the name.
func (n InformerNameAndResource) Name() string { return n.name }

// GroupVersionResource returns the resource.
func (n InformerNameAndResource) GroupVersionResource() schema.GroupVersionResource { return n.gvr }

// ResetInformerNamesForTesting releases all names. It is for tests.
func ResetInformerNamesForTesting() {
	informerNames.mu.Lock()
	used := informerNames.used
	informerNames.used = nil
	informerNames.mu.Unlock()
	for _, n := range used {
		n.revoke()
	}
}

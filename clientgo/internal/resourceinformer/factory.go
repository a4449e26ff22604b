// Package resourceinformer has the code that the factories of dynamic and of metadata informers
// share.
package resourceinformer

import (
	"context"
	"maps"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
)

// Factory has one informer for each requested resource, and runs them together. It is safe for
// concurrent use.
type Factory struct {
	newInformer func(schema.GroupVersionResource) informers.GenericInformer
	running     sync.WaitGroup

	mu        sync.Mutex // guards following
	informers map[schema.GroupVersionResource]informers.GenericInformer
	started   map[schema.GroupVersionResource]cache.SharedIndexInformer
	shutDown  bool
}

// New returns a factory that makes informers with newInformer. The function newInformer must not
// call the factory.
func New(newInformer func(schema.GroupVersionResource) informers.GenericInformer) *Factory {
	return &Factory{
		newInformer: newInformer,
		informers:   map[schema.GroupVersionResource]informers.GenericInformer{},
		started:     map[schema.GroupVersionResource]cache.SharedIndexInformer{},
	}
}

// ForResource returns the informer of a resource. A new informer runs after the next call of Start.
func (f *Factory) ForResource(gvr schema.GroupVersionResource) informers.GenericInformer {
	f.mu.Lock()
	defer f.mu.Unlock()
	informer, ok := f.informers[gvr]
	if !ok {
		informer = f.newInformer(gvr)
		f.informers[gvr] = informer
	}
	return informer
}

// Start is StartWithContext with a channel instead of a context.
func (f *Factory) Start(stopCh <-chan struct{}) {
	f.StartWithContext(wait.ContextForChannel(stopCh))
}

// StartWithContext runs the informers that are not running yet, until the context ends. After
// Shutdown it does nothing.
func (f *Factory) StartWithContext(ctx context.Context) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.shutDown {
		return
	}
	for gvr, generic := range f.informers {
		if _, ok := f.started[gvr]; !ok {
			informer := generic.Informer()
			f.started[gvr] = informer
			f.running.Go(func() { informer.RunWithContext(ctx) })
		}
	}
}

// WaitForCacheSync returns when all started informers have synced, or when the channel is closed.
// The result reports which informers have synced.
func (f *Factory) WaitForCacheSync(stopCh <-chan struct{}) map[schema.GroupVersionResource]bool {
	f.mu.Lock()
	started := maps.Clone(f.started)
	f.mu.Unlock()
	synced := make(map[schema.GroupVersionResource]bool, len(started))
	for gvr, informer := range started {
		synced[gvr] = cache.WaitForCacheSync(stopCh, informer.HasSynced)
	}
	return synced
}

// Shutdown waits until all informers have ended. It does not stop them: to stop them, close the
// channel that was passed to Start. Afterwards the factory starts no more informers.
func (f *Factory) Shutdown() {
	f.mu.Lock()
	f.shutDown = true
	f.mu.Unlock()
	f.running.Wait()
}

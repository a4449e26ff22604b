package informers

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
)

// GenericInformer is an informer whose resource is chosen at run time.
type GenericInformer interface {
	Informer() cache.SharedIndexInformer
	Lister() cache.GenericLister
}

// genericInformer implements GenericInformer.
type genericInformer struct {
	informer cache.SharedIndexInformer
	resource schema.GroupResource
}

// Informer implements GenericInformer.
func (g *genericInformer) Informer() cache.SharedIndexInformer { return g.informer }

// Lister implements GenericInformer.
func (g *genericInformer) Lister() cache.GenericLister {
	return cache.NewGenericLister(g.informer.GetIndexer(), g.resource)
}

// ForResource implements SharedInformerFactory.
func (f *sharedInformerFactory) ForResource(resource schema.GroupVersionResource) (GenericInformer, error) {
	if informer := f.informerOf(resource); informer != nil {
		return &genericInformer{informer: informer, resource: resource.GroupResource()}, nil
	}
	return nil, fmt.Errorf("no informer found for %v", resource)
}

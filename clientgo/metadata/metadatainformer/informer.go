// Package metadatainformer has informers for the metadata of any resource.
package metadatainformer

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/internal/resourceinformer"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatalister"
	"k8s.io/client-go/tools/cache"
)

// SharedInformerFactory has one informer for each requested resource, and runs them together.
type SharedInformerFactory interface {
	// Start runs the informers that are not running yet, until the channel is closed. It does not
	// wait for them.
	Start(stopCh <-chan struct{})

	// ForResource returns the informer of a resource. A new informer runs after the next call of
	// Start.
	ForResource(gvr schema.GroupVersionResource) informers.GenericInformer

	// WaitForCacheSync returns when all started informers have synced, or when the channel is
	// closed. The result reports which informers have synced.
	WaitForCacheSync(stopCh <-chan struct{}) map[schema.GroupVersionResource]bool

	// Shutdown waits until all informers have ended. It does not stop them: to stop them, close the
	// channel that was passed to Start. Afterwards the factory starts no more informers.
	Shutdown()
}

// TweakListOptionsFunc changes the options of an informer's list and watch requests.
type TweakListOptionsFunc func(*metav1.ListOptions)

// NewSharedInformerFactory returns a factory for all namespaces. Its informers resync once per
// defaultResync; 0 means never.
func NewSharedInformerFactory(client metadata.Interface, defaultResync time.Duration) SharedInformerFactory {
	return NewFilteredSharedInformerFactory(client, defaultResync, metav1.NamespaceAll, nil)
}

// NewFilteredSharedInformerFactory returns a factory for one namespace. tweakListOptions changes
// the options of requests, and may be nil.
func NewFilteredSharedInformerFactory(client metadata.Interface, defaultResync time.Duration, namespace string, tweakListOptions TweakListOptionsFunc) SharedInformerFactory {
	return newFactory(client, defaultResync, namespace, tweakListOptions)
}

// SharedInformerOption configures a new factory.
type SharedInformerOption func(*metadataSharedInformerFactory) *metadataSharedInformerFactory

// WithTransform sets the transform of all informers of a factory. It runs before an object is
// stored.
func WithTransform(transform cache.TransformFunc) SharedInformerOption {
	return func(f *metadataSharedInformerFactory) *metadataSharedInformerFactory {
		f.transform = transform
		return f
	}
}

// NewSharedInformerFactoryWithOptions is NewSharedInformerFactory with options.
func NewSharedInformerFactoryWithOptions(client metadata.Interface, defaultResync time.Duration, options ...SharedInformerOption) SharedInformerFactory {
	f := newFactory(client, defaultResync, metav1.NamespaceAll, nil)
	for _, option := range options {
		f = option(f)
	}
	return f
}

// metadataSharedInformerFactory implements SharedInformerFactory.
type metadataSharedInformerFactory struct {
	*resourceinformer.Factory
	transform cache.TransformFunc
}

func newFactory(client metadata.Interface, defaultResync time.Duration, namespace string, tweakListOptions TweakListOptionsFunc) *metadataSharedInformerFactory {
	f := &metadataSharedInformerFactory{}
	f.Factory = resourceinformer.New(func(gvr schema.GroupVersionResource) informers.GenericInformer {
		indexers := cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
		informer := NewFilteredMetadataInformer(client, gvr, namespace, defaultResync, indexers, tweakListOptions)
		if f.transform != nil {
			_ = informer.Informer().SetTransform(f.transform) // fails only for a running informer
		}
		return informer
	})
	return f
}

// metadataInformer implements informers.GenericInformer.
type metadataInformer struct {
	informer cache.SharedIndexInformer
	gvr      schema.GroupVersionResource
}

// NewFilteredMetadataInformer returns an informer of a resource. The caller must run it.
func NewFilteredMetadataInformer(client metadata.Interface, gvr schema.GroupVersionResource, namespace string, resyncPeriod time.Duration, indexers cache.Indexers, tweakListOptions TweakListOptionsFunc) informers.GenericInformer {
	tweak := func(options *metav1.ListOptions) {
		if tweakListOptions != nil {
			tweakListOptions(options)
		}
	}
	list := func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		tweak(&options)
		return client.Resource(gvr).Namespace(namespace).List(ctx, options)
	}
	watches := func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
		tweak(&options)
		return client.Resource(gvr).Namespace(namespace).Watch(ctx, options)
	}
	return &metadataInformer{
		gvr: gvr,
		informer: cache.NewSharedIndexInformerWithOptions(
			cache.ToListWatcherWithWatchListSemantics(resourceinformer.ListWatch(list, watches), client),
			&metav1.PartialObjectMetadata{},
			cache.SharedIndexInformerOptions{ResyncPeriod: resyncPeriod, Indexers: indexers, ObjectDescription: gvr.String()},
		),
	}
}

// Informer implements informers.GenericInformer.
func (m *metadataInformer) Informer() cache.SharedIndexInformer { return m.informer }

// Lister implements informers.GenericInformer.
func (m *metadataInformer) Lister() cache.GenericLister {
	return metadatalister.NewRuntimeObjectShim(metadatalister.New(m.informer.GetIndexer(), m.gvr))
}

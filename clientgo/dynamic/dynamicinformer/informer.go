// Package dynamicinformer has informers for any resource. Their objects are unstructured.
package dynamicinformer

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamiclister"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/internal/resourceinformer"
	"k8s.io/client-go/tools/cache"
)

// DynamicSharedInformerFactory has one informer for each requested resource, and runs them
// together.
type DynamicSharedInformerFactory interface {
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

// NewDynamicSharedInformerFactory returns a factory for all namespaces. Its informers resync once
// per defaultResync; 0 means never.
func NewDynamicSharedInformerFactory(client dynamic.Interface, defaultResync time.Duration) DynamicSharedInformerFactory {
	return NewFilteredDynamicSharedInformerFactory(client, defaultResync, metav1.NamespaceAll, nil)
}

// NewFilteredDynamicSharedInformerFactory returns a factory for one namespace. tweakListOptions
// changes the options of requests, and may be nil.
func NewFilteredDynamicSharedInformerFactory(client dynamic.Interface, defaultResync time.Duration, namespace string, tweakListOptions TweakListOptionsFunc) DynamicSharedInformerFactory {
	return resourceinformer.New(func(gvr schema.GroupVersionResource) informers.GenericInformer {
		indexers := cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
		return NewFilteredDynamicInformer(client, gvr, namespace, defaultResync, indexers, tweakListOptions)
	})
}

// dynamicInformer implements informers.GenericInformer.
type dynamicInformer struct {
	informer cache.SharedIndexInformer
	gvr      schema.GroupVersionResource
}

// NewFilteredDynamicInformer returns an informer of a resource. The caller must run it.
func NewFilteredDynamicInformer(client dynamic.Interface, gvr schema.GroupVersionResource, namespace string, resyncPeriod time.Duration, indexers cache.Indexers, tweakListOptions TweakListOptionsFunc) informers.GenericInformer {
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
	return &dynamicInformer{
		gvr: gvr,
		informer: cache.NewSharedIndexInformerWithOptions(
			cache.ToListWatcherWithWatchListSemantics(resourceinformer.ListWatch(list, watches), client),
			&unstructured.Unstructured{},
			cache.SharedIndexInformerOptions{ResyncPeriod: resyncPeriod, Indexers: indexers, ObjectDescription: gvr.String()},
		),
	}
}

// Informer implements informers.GenericInformer.
func (d *dynamicInformer) Informer() cache.SharedIndexInformer { return d.informer }

// Lister implements informers.GenericInformer.
func (d *dynamicInformer) Lister() cache.GenericLister {
	return dynamiclister.NewRuntimeObjectShim(dynamiclister.New(d.informer.GetIndexer(), d.gvr))
}

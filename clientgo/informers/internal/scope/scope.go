// Package scope has the code that the generated informers share.
package scope

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/informers/internalinterfaces"
	"k8s.io/client-go/tools/cache"
)

// Scope holds the factory of a group of informers. It also holds the namespace and the options that
// select the informers' objects.
type Scope struct {
	Factory   internalinterfaces.SharedInformerFactory
	Namespace string // empty for all namespaces
	Tweak     internalinterfaces.TweakListOptionsFunc
}

// Options returns the options for an informer of the factory. They include an index by namespace.
func (s Scope) Options(resync time.Duration) internalinterfaces.InformerOptions {
	return internalinterfaces.InformerOptions{
		ResyncPeriod:     resync,
		Indexers:         cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc},
		InformerName:     s.Factory.InformerName(),
		TweakListOptions: s.Tweak,
	}
}

// resource is the part of a typed client that informers use.
type resource[L runtime.Object] interface {
	List(ctx context.Context, opts metav1.ListOptions) (L, error)
	Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error)
}

// object is a pointer to an API type.
type object interface {
	cache.Object
	runtime.Object
}

// New returns an informer of the objects of a resource. The type of client determines whether the
// informer can take objects while a list is decoded.
func New[T object, L runtime.Object](client any, r resource[L], example T, gvr schema.GroupVersionResource, options internalinterfaces.InformerOptions) cache.TypedSharedIndexInformer[T] {
	list := func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
		if options.TweakListOptions != nil {
			options.TweakListOptions(&opts)
		}
		return r.List(ctx, opts)
	}
	watch := func(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
		if options.TweakListOptions != nil {
			options.TweakListOptions(&opts)
		}
		return r.Watch(ctx, opts)
	}
	source := &cache.ListWatch{ListWithContextFunc: list, WatchFuncWithContext: watch}
	return cache.NewTypedSharedIndexInformer[T](cache.NewSharedIndexInformerWithOptions(cache.ToListWatcherWithWatchListSemantics(source, client), example,
		cache.SharedIndexInformerOptions{
			ResyncPeriod: options.ResyncPeriod,
			Indexers:     options.Indexers,
			Identifier:   options.InformerName.WithResource(gvr),
		}))
}

package informers

import (
	"context"
	"reflect"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/informers/internalinterfaces"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// SharedInformerFactory has one informer for each requested built-in type, and runs them together.
//
// First get the informers and add handlers. Then call StartWithContext, and
// WaitForCacheSyncWithContext. An informer that is requested later runs after the next call of
// StartWithContext. Call Shutdown after the context has ended.
type SharedInformerFactory interface {
	internalinterfaces.SharedInformerFactory
	groups

	// StartWithContext is Start with a context. The context also carries the informers' logger.
	StartWithContext(ctx context.Context)

	// Shutdown waits until all informers have ended. It does not stop them: to stop them, close the
	// channel or cancel the context with which they were started. Afterwards the factory starts no
	// more informers.
	Shutdown()

	// WaitForCacheSync returns when all started informers have synced, or when the channel is
	// closed. The result reports which informers have synced.
	WaitForCacheSync(stopCh <-chan struct{}) map[reflect.Type]bool

	// WaitForCacheSyncWithContext is WaitForCacheSync with a context. If an informer has not
	// synced, the result has the cause why the context ended.
	WaitForCacheSyncWithContext(ctx context.Context) cache.SyncResult

	// ForResource returns the informer of a resource, or an error if the resource is not built in.
	ForResource(resource schema.GroupVersionResource) (GenericInformer, error)
}

// sharedInformerFactory implements SharedInformerFactory.
type sharedInformerFactory struct {
	client           kubernetes.Interface
	namespace        string
	resync           time.Duration
	resyncs          map[reflect.Type]time.Duration // overrides the field resync for single types
	tweakListOptions internalinterfaces.TweakListOptionsFunc
	transform        cache.TransformFunc
	informerName     *cache.InformerName
	running          sync.WaitGroup

	mu        sync.Mutex // guards following
	informers map[reflect.Type]*sharedInformer
	shutDown  bool
}

// sharedInformer is an informer of a factory.
type sharedInformer struct {
	cache.SharedIndexInformer
	started bool
}

// NewSharedInformerFactory returns a factory for all namespaces. Its informers resync once per
// defaultResync; 0 means never.
func NewSharedInformerFactory(client kubernetes.Interface, defaultResync time.Duration) SharedInformerFactory {
	return NewSharedInformerFactoryWithOptions(client, defaultResync)
}

// NewFilteredSharedInformerFactory returns a factory for one namespace. tweakListOptions changes
// the options of requests.
//
// Deprecated: NewSharedInformerFactoryWithOptions can do the same.
func NewFilteredSharedInformerFactory(client kubernetes.Interface, defaultResync time.Duration, namespace string, tweakListOptions internalinterfaces.TweakListOptionsFunc) SharedInformerFactory {
	return NewSharedInformerFactoryWithOptions(client, defaultResync, WithNamespace(namespace), WithTweakListOptions(tweakListOptions))
}

// NewSharedInformerFactoryWithOptions is NewSharedInformerFactory with options.
func NewSharedInformerFactoryWithOptions(client kubernetes.Interface, defaultResync time.Duration, options ...SharedInformerOption) SharedInformerFactory {
	f := &sharedInformerFactory{
		client:    client,
		namespace: metav1.NamespaceAll,
		resync:    defaultResync,
		resyncs:   map[reflect.Type]time.Duration{},
		informers: map[reflect.Type]*sharedInformer{},
	}
	for _, option := range options {
		f = option(f)
	}
	return f
}

// InformerName implements internalinterfaces.SharedInformerFactory.
func (f *sharedInformerFactory) InformerName() *cache.InformerName { return f.informerName }

// InformerFor implements internalinterfaces.SharedInformerFactory.
func (f *sharedInformerFactory) InformerFor(obj runtime.Object, newFunc internalinterfaces.NewInformerFunc) cache.SharedIndexInformer {
	of := reflect.TypeOf(obj)
	f.mu.Lock()
	defer f.mu.Unlock()
	if informer, ok := f.informers[of]; ok {
		return informer.SharedIndexInformer
	}
	resync, ok := f.resyncs[of]
	if !ok {
		resync = f.resync
	}
	// newFunc is called with the lock held, so that concurrent callers get the same informer.
	// newFunc may only make an informer. It must not call the factory.
	informer := newFunc(f.client, resync)
	if f.transform != nil {
		_ = informer.SetTransform(f.transform) // fails only for a running informer
	}
	f.informers[of] = &sharedInformer{SharedIndexInformer: informer}
	return informer
}

// Start implements internalinterfaces.SharedInformerFactory.
func (f *sharedInformerFactory) Start(stopCh <-chan struct{}) {
	f.StartWithContext(wait.ContextForChannel(stopCh))
}

// StartWithContext implements SharedInformerFactory.
func (f *sharedInformerFactory) StartWithContext(ctx context.Context) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.shutDown {
		return
	}
	for _, informer := range f.informers {
		if !informer.started {
			informer.started = true
			f.running.Go(func() { informer.RunWithContext(ctx) })
		}
	}
}

// Shutdown implements SharedInformerFactory.
func (f *sharedInformerFactory) Shutdown() {
	f.mu.Lock()
	f.shutDown = true
	f.mu.Unlock()
	f.running.Wait()
	f.informerName.Release()
}

// WaitForCacheSync implements SharedInformerFactory.
func (f *sharedInformerFactory) WaitForCacheSync(stopCh <-chan struct{}) map[reflect.Type]bool {
	return f.WaitForCacheSyncWithContext(wait.ContextForChannel(stopCh)).Synced
}

// WaitForCacheSyncWithContext implements SharedInformerFactory.
func (f *sharedInformerFactory) WaitForCacheSyncWithContext(ctx context.Context) cache.SyncResult {
	started := f.started()
	result := cache.SyncResult{Synced: make(map[reflect.Type]bool, len(started))}
	for of, informer := range started {
		select {
		case <-informer.HasSyncedChecker().Done():
		case <-ctx.Done():
		}
		result.Synced[of] = informer.HasSynced()
		if !result.Synced[of] {
			result.Err = context.Cause(ctx)
		}
	}
	return result
}

func (f *sharedInformerFactory) started() map[reflect.Type]cache.SharedIndexInformer {
	f.mu.Lock()
	defer f.mu.Unlock()
	started := map[reflect.Type]cache.SharedIndexInformer{}
	for of, informer := range f.informers {
		if informer.started {
			started[of] = informer.SharedIndexInformer
		}
	}
	return started
}

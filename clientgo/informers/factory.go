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

// SharedInformerFactory has one informer for each built-in type that a program asks for, and runs them together.
//
// Ask for informers, add handlers, then call StartWithContext, and WaitForCacheSyncWithContext. Informers that
// were asked for later run after the next call of StartWithContext. Call Shutdown after the context has ended.
type SharedInformerFactory interface {
	internalinterfaces.SharedInformerFactory
	groups

	// StartWithContext is Start with a context, which has the informers' logger as well.
	StartWithContext(ctx context.Context)

	// Shutdown returns when all informers have ended. It does not end them: their channel or context does. The factory starts no
	// more informers afterwards.
	Shutdown()

	// WaitForCacheSync returns when all informers that were started have synced, or when the channel is closed. The
	// result says which of them have.
	WaitForCacheSync(stopCh <-chan struct{}) map[reflect.Type]bool

	// WaitForCacheSyncWithContext is WaitForCacheSync with a context. The result has the context's cause if an informer has not
	// synced.
	WaitForCacheSyncWithContext(ctx context.Context) cache.SyncResult

	// ForResource returns the informer of a resource. It returns an error if that is not of a built-in type.
	ForResource(resource schema.GroupVersionResource) (GenericInformer, error)
}

// sharedInformerFactory implements SharedInformerFactory.
type sharedInformerFactory struct {
	client           kubernetes.Interface
	namespace        string
	resync           time.Duration
	resyncs          map[reflect.Type]time.Duration // where it differs
	tweakListOptions internalinterfaces.TweakListOptionsFunc
	transform        cache.TransformFunc
	informerName     *cache.InformerName
	running          sync.WaitGroup

	mu        sync.Mutex // guards following
	informers map[reflect.Type]*sharedInformer
	shut      bool
}

// sharedInformer is an informer of a factory.
type sharedInformer struct {
	cache.SharedIndexInformer
	started bool
}

// NewSharedInformerFactory returns a factory whose informers have the objects of all namespaces. Its informers resync
// each defaultResync; 0 means never.
func NewSharedInformerFactory(client kubernetes.Interface, defaultResync time.Duration) SharedInformerFactory {
	return NewSharedInformerFactoryWithOptions(client, defaultResync)
}

// NewFilteredSharedInformerFactory returns a factory for one namespace, with a function that changes the options of requests.
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
	// Two callers must not get two informers of a type, so that newFunc is called under the lock. It makes an informer, and
	// does nothing with the factory.
	informer := newFunc(f.client, resync)
	if f.transform != nil {
		_ = informer.SetTransform(f.transform) // fails for an informer that runs, which a new one does not
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
	if f.shut {
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
	f.shut = true
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

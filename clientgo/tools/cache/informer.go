package cache

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"
)

// InformerOptions are the choices of [NewInformerWithOptions].
type InformerOptions struct {
	// Logger defaults to klog.Background().
	Logger *klog.Logger
	// ListerWatcher is the source. Required.
	ListerWatcher ListerWatcher
	// ObjectType is an example of the objects. Required.
	ObjectType runtime.Object
	// Handler is told of each change. Required.
	Handler ResourceEventHandler
	// ResyncPeriod is the time between two calls of OnUpdate for each object. Defaults to 0, never.
	ResyncPeriod time.Duration
	// MinWatchTimeout is that of [ReflectorOptions].
	MinWatchTimeout time.Duration
	// Indexers are the indexes. If there are none, the store has no index, but may still be an Indexer.
	Indexers Indexers
	// Transform changes each object before it is stored. Defaults to none.
	Transform TransformFunc
	// Identifier names the informer in metrics. Defaults to none, and no metrics.
	Identifier InformerNameAndResource
	// InformerMetricsProvider defaults to that of [SetInformerMetricsProvider].
	InformerMetricsProvider InformerMetricsProvider
}

// NewInformerWithOptions returns a store and the controller that keeps it in step with the server, and tells one handler
// of each change. The store is there to be read.
//
// It is a shared informer with one handler. The handler is called from a goroutine of its own, and has no queue to hold
// up: a slow handler finds the store ahead of what it is told.
func NewInformerWithOptions(options InformerOptions) (Store, Controller) {
	return newInformer(options)
}

// NewInformer is NewInformerWithOptions.
func NewInformer(lw ListerWatcher, objType runtime.Object, resyncPeriod time.Duration, h ResourceEventHandler) (Store, Controller) {
	return newInformer(InformerOptions{ListerWatcher: lw, ObjectType: objType, ResyncPeriod: resyncPeriod, Handler: h})
}

// NewIndexerInformer is NewInformerWithOptions with indexes.
func NewIndexerInformer(lw ListerWatcher, objType runtime.Object, resyncPeriod time.Duration, h ResourceEventHandler, indexers Indexers) (Indexer, Controller) {
	return newInformer(InformerOptions{ListerWatcher: lw, ObjectType: objType, ResyncPeriod: resyncPeriod, Handler: h, Indexers: indexers})
}

// NewTransformingInformer is NewInformerWithOptions with a transform.
func NewTransformingInformer(lw ListerWatcher, objType runtime.Object, resyncPeriod time.Duration, h ResourceEventHandler, transformer TransformFunc) (Store, Controller) {
	return newInformer(InformerOptions{ListerWatcher: lw, ObjectType: objType, ResyncPeriod: resyncPeriod, Handler: h, Transform: transformer})
}

// NewTransformingIndexerInformer is NewInformerWithOptions with indexes and a transform.
func NewTransformingIndexerInformer(lw ListerWatcher, objType runtime.Object, resyncPeriod time.Duration, h ResourceEventHandler, indexers Indexers, transformer TransformFunc) (Indexer, Controller) {
	return newInformer(InformerOptions{ListerWatcher: lw, ObjectType: objType, ResyncPeriod: resyncPeriod, Handler: h, Indexers: indexers, Transform: transformer})
}

func newInformer(o InformerOptions) (Indexer, Controller) {
	inner := NewSharedIndexInformerWithOptions(o.ListerWatcher, o.ObjectType, SharedIndexInformerOptions{
		ResyncPeriod: o.ResyncPeriod, Indexers: o.Indexers, Identifier: o.Identifier, InformerMetricsProvider: o.InformerMetricsProvider,
	}).(*sharedIndexInformer)
	inner.transform, inner.minWatchTimeout = o.Transform, o.MinWatchTimeout
	c := &informerController{inner: inner, logger: o.Logger, synced: inner.HasSyncedChecker()}
	if o.Handler != nil {
		// There is no error before the start.
		if registration, err := inner.AddEventHandler(o.Handler); err == nil {
			c.synced = registration.HasSyncedChecker()
		}
	}
	return inner.indexer, c
}

// informerController is the Controller of an informer with one handler. It is synced when the handler has returned from
// the first list.
type informerController struct {
	inner  *sharedIndexInformer
	logger *klog.Logger
	synced DoneChecker
}

func (c *informerController) RunWithContext(ctx context.Context) {
	if c.logger != nil {
		ctx = klog.NewContext(ctx, *c.logger)
	}
	c.inner.RunWithContext(ctx)
}

func (c *informerController) Run(stopCh <-chan struct{}) {
	ctx := klog.NewContext(wait.ContextForChannel(stopCh), klog.Background())
	c.RunWithContext(ctx)
}

func (c *informerController) HasSynced() bool { return IsDone(c.synced) }
func (c *informerController) HasSyncedChecker() DoneChecker {
	return doneChecker{fmt.Sprintf("Informer %s", c.inner.about), c.synced.Done()}
}
func (c *informerController) LastSyncResourceVersion() string {
	return c.inner.LastSyncResourceVersion()
}

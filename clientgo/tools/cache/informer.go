package cache

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"k8s.io/client-go/internal/guard"

	"github.com/kinform/kinform/listwatch"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"
)

// InformerOptions are the options of [NewInformerWithOptions].
type InformerOptions struct {
	// Logger defaults to klog.Background().
	Logger *klog.Logger
	// ListerWatcher is the source. Required.
	ListerWatcher ListerWatcher
	// ObjectType is an example of the objects. Required.
	ObjectType runtime.Object
	// Handler is notified of each change. Required.
	Handler ResourceEventHandler
	// ResyncPeriod is the time between two calls of OnUpdate for each object. Defaults to 0: never.
	ResyncPeriod time.Duration
	// MinWatchTimeout is the field of the same name in [ReflectorOptions].
	MinWatchTimeout time.Duration
	// Indexers are the indexes of the store. By default the store has no indexes.
	Indexers Indexers
	// Transform changes each object before it is stored. Defaults to nil: no change.
	Transform TransformFunc
	// Identifier names the informer in metrics. By default the informer has no metrics.
	Identifier InformerNameAndResource
	// InformerMetricsProvider defaults to the provider set by [SetInformerMetricsProvider].
	InformerMetricsProvider InformerMetricsProvider
}

// NewInformerWithOptions returns a store and the controller that keeps it in step with the server
// and notifies one handler of each change. The program may only read the store.
//
// Run changes the store and calls the handler in the goroutine of its caller, one change after
// another. While the handler runs, the store does not change. The caller of Run can recover a panic
// of the handler. Changes that are not stored yet wait in a queue without a bound.
func NewInformerWithOptions(options InformerOptions) (Store, Controller) {
	return newInformer(options)
}

// NewInformer is NewInformerWithOptions without indexes.
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
	logger := klog.Background()
	if o.Logger != nil {
		logger = *o.Logger
	}
	name := fmt.Sprintf("RealFIFO %T", o.ObjectType)
	q := &informerQueue{
		RealFIFO: NewRealFIFOWithOptions(RealFIFOOptions{
			Logger: &logger, Name: name, AtomicEvents: true, UnlockWhileProcessing: true, Transformer: o.Transform,
			Identifier: o.Identifier, MetricsProvider: o.InformerMetricsProvider,
		}),
		applier: applier{
			indexer:  NewIndexer(DeletionHandlingMetaNamespaceKeyFunc, o.Indexers, WithStoreMetrics(o.Identifier, o.InformerMetricsProvider)),
			detector: noDetector{},
		},
		handler: o.Handler,
	}
	q.batch = math.MaxInt / 2 // the handler may check HasSynced, however long the queue is
	return q.indexer, &informerController{q: q, Controller: New(&Config{
		Queue: q, Process: q.process, ListerWatcher: o.ListerWatcher, ObjectType: o.ObjectType,
		FullResyncPeriod: o.ResyncPeriod, MinWatchTimeout: o.MinWatchTimeout,
	})}
}

// informerController is the Controller of an informer with one handler. It is synced once the
// handler has returned for each object of the first list.
type informerController struct {
	Controller
	q *informerQueue
}

func (c *informerController) Run(stopCh <-chan struct{}) {
	c.RunWithContext(wait.ContextForChannel(stopCh))
}

func (c *informerController) RunWithContext(ctx context.Context) {
	c.q.applier.ctx = ctx
	var guarding sync.WaitGroup
	defer guarding.Wait()
	guarded, cancel := context.WithCancel(ctx)
	defer cancel()
	if !mutationDetection {
		guarding.Go(func() { guard.Run(guarded.Done()) })
	}
	c.Controller.RunWithContext(ctx)
}

// informerQueue is a RealFIFO of the changes from the reflector, together with the store and the
// handler that get the changes.
type informerQueue struct {
	*RealFIFO
	applier
	handler ResourceEventHandler
}

// hasVersion reports whether the store has this version of an object, so that it need not be
// decoded. It returns false while the queue is not empty, because a queued change could still
// change the store.
func (q *informerQueue) hasVersion(key types.NamespacedName, resourceVersion string, uidHash uint64) bool {
	return q.pending.Load() == 0 && q.applier.hasVersion(key, resourceVersion, uidHash)
}

func (q *informerQueue) replaceItems(snapshot listwatch.Snapshot[any]) error {
	if err := transformItems(snapshot.Items, q.transformer); err != nil {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.appendLocked(Delta{Type: ReplacedAll, Object: snapshot})
	q.tracker.populateLocked(len(q.items))
	return nil
}

func (q *informerQueue) applyEvent(event listwatch.Event[any]) error {
	if err := transformEvent(&event, q.transformer); err != nil {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if event.Type != listwatch.Bookmark {
		q.tracker.populateLocked(0)
	}
	q.appendLocked(Delta{Object: event})
	return nil
}

// process changes the store and then notifies the handler. It runs in the goroutine of Run.
func (q *informerQueue) process(obj interface{}, initial bool) (err error) {
	var notes []notification
	switch change := obj.(Deltas)[0].Object.(type) {
	case listwatch.Snapshot[any]:
		notes, err = q.replace(change, initial)
	case listwatch.Event[any]:
		var note notification
		var changed bool
		if note, changed, err = q.event(change); changed {
			note.initial = initial
			notes = []notification{note}
		}
	case SyncAllInfo:
		notes = q.resync()
	}
	q.repanic()
	for i := range notes {
		notes[i].call(q.handler)
	}
	return err
}

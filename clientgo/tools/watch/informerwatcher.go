package watch

import (
	"context"
	"sync"

	"k8s.io/client-go/tools/cache"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/klog/v2"
)

// NewIndexerInformerWatcher is NewIndexerInformerWatcherWithLogger with klog.Background().
func NewIndexerInformerWatcher(lw cache.ListerWatcher, objType runtime.Object) (cache.Indexer, cache.Controller, watch.Interface, <-chan struct{}) {
	return NewIndexerInformerWatcherWithLogger(klog.Background(), lw, objType)
}

// NewIndexerInformerWatcherWithLogger runs an informer until the watch is stopped. The watch
// delivers each change as an event, and existing objects as Added. The number of pending events has
// no bound. The channel of the watch is closed after the informer and its goroutines have ended.
func NewIndexerInformerWatcherWithLogger(logger klog.Logger, lw cache.ListerWatcher, objType runtime.Object) (cache.Indexer, cache.Controller, watch.Interface, <-chan struct{}) {
	ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), logger))
	w := &informerWatch{ctx: ctx, cancel: cancel, events: make(chan watch.Event)}
	handler := cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj interface{}) { w.send(watch.Added, obj) },
		UpdateFunc: func(_, obj interface{}) { w.send(watch.Modified, obj) },
		DeleteFunc: func(obj interface{}) {
			if d, ok := obj.(cache.DeletedFinalStateUnknown); ok {
				obj = d.Obj
			}
			w.send(watch.Deleted, obj)
		},
	}
	informer := cache.NewSharedIndexInformer(lw, objType, 0, cache.Indexers{})
	informer.AddEventHandler(handler) // no error before the start
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer close(w.events)
		informer.RunWithContext(ctx)
	}()
	return informer.GetIndexer(), informer.GetController(), w, done
}

// informerWatch is the watch. The informer's handler blocks until an event is read.
type informerWatch struct {
	ctx    context.Context
	cancel context.CancelFunc
	once   sync.Once
	events chan watch.Event
}

func (w *informerWatch) send(t watch.EventType, obj interface{}) {
	o, ok := obj.(runtime.Object)
	if !ok {
		return
	}
	select {
	case w.events <- watch.Event{Type: t, Object: o}:
	case <-w.ctx.Done():
	}
}

func (w *informerWatch) ResultChan() <-chan watch.Event { return w.events }
func (w *informerWatch) Stop()                          { w.once.Do(w.cancel) }

package controller

import (
	"context"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/deltafifo"
	"github.com/kinform/kinform/indexer"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/informer/enqueue"
	"github.com/kinform/kinform/reflector"
	"github.com/kinform/kinform/workqueue"
)

// Observer provides observers for the queues and caches of a manager when they are made, so that
// metrics cover all of them. Each field may be nil.
type Observer struct {
	// Queue returns the observer of a controller's queue. The argument next is the observer in the
	// controller's Settings, or nil. The returned observer must call the observer next.
	Queue func(controller string, next *workqueue.Observer[types.NamespacedName]) *workqueue.Observer[types.NamespacedName]

	// Cache returns the observers of a cache. name is the cache's Informer.Name, or its resource if
	// Informer.Name is empty. If another cache of the manager has the same name, a number follows,
	// as in "secrets~2". The argument next has the observers of its Selection, which the returned
	// observers must call. If several Selections share a cache, name and observers of the first
	// apply.
	Cache func(name string, next CacheObservers) CacheObservers

	// Enqueue returns two hooks for a handler of a controller. cache is the name of the handler's
	// cache, as in Cache. Each handler has its own hooks, and calls them sequentially.
	//
	// The handler adds its keys to the result fill instead of the argument queue, and fill must
	// pass them on to queue. If fill is nil, the handler adds its keys to queue. The handler calls
	// the function event with each event, before it adds keys for the event. event may be nil. If
	// event panics, the panic is logged, and the handler still adds its keys.
	Enqueue func(controller, cache string, queue enqueue.Queue) (fill enqueue.Queue, event func(key types.NamespacedName, resourceVersion string))

	// Reconcile returns the function that a controller's workers call to reconcile a key. The
	// returned function must call the function next in the same goroutine, with a context derived
	// from its own.
	Reconcile func(controller string, next func(context.Context, types.NamespacedName) error) func(context.Context, types.NamespacedName) error
}

// CacheObservers has the observers for the stages of a cache. Each may be nil.
type CacheObservers struct {
	Informer  *informer.Observer
	Reflector *reflector.Observer
	Queue     *deltafifo.Observer
	Store     *indexer.Observer
}

// observedQueue returns the queue to which a handler adds its keys, and the function that it calls
// for each event.
func (o *Observer) observedQueue(controller, cache string, queue enqueue.Queue) (enqueue.Queue, func(types.NamespacedName, string)) {
	if o == nil || o.Enqueue == nil {
		return queue, nil
	}
	fill, event := o.Enqueue(controller, cache, queue)
	if fill == nil {
		fill = queue
	}
	return fill, event
}

// observeCache adds the manager's observers to the options of a cache.
func observeCache[T any](o *Observer, opts informer.Options[T]) informer.Options[T] {
	if o == nil || o.Cache == nil {
		return opts
	}
	observers := o.Cache(opts.Name, CacheObservers{opts.Observer, opts.Reflector.Observer, opts.Queue.Observer, opts.Store.Observer})
	opts.Observer, opts.Reflector.Observer, opts.Queue.Observer, opts.Store.Observer = observers.Informer, observers.Reflector, observers.Queue, observers.Store
	return opts
}

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

// Observer gives observers to the queues and caches of a manager when they are made, so that metrics
// hear of all of them. Each field may be nil.
type Observer struct {
	// Queue returns the observer of a controller's queue. next is the observer of its
	// Settings, or nil: the returned observer has to call it.
	Queue func(controller string, next *workqueue.Observer[types.NamespacedName]) *workqueue.Observer[types.NamespacedName]

	// Cache returns the observers of a cache. name is its Informer.Name, or its resource if that
	// is empty; where another cache of the manager has that name, a number follows, as in
	// "secrets~2". next are the observers of its Selection: the returned ones have to call
	// them. If several Selections have the same objects, name and observers of the first count.
	Cache func(name string, next CacheObservers) CacheObservers

	// Fill returns what a handler of a controller fills in place of the queue, which is to fill
	// that, and what is told of each event that the handler gets, before. Either may be nil: the
	// queue itself, and nobody. A handler calls them one after another; each has its own. If event
	// panics, that is logged, and the handler fills the queue all the same. cache is the name of the cache that
	// the handler is of, as in Cache.
	Fill func(controller, cache string, queue enqueue.Queue) (fill enqueue.Queue, event func(key types.NamespacedName, resourceVersion string))

	// Turn returns what workers of a controller call for a turn of a key. It is to call next,
	// in the same goroutine, with a context that is made of its own.
	Turn func(controller string, next func(context.Context, types.NamespacedName) error) func(context.Context, types.NamespacedName) error
}

// CacheObservers are the observers of the stages of a cache. Each may be nil.
type CacheObservers struct {
	Informer  *informer.Observer
	Reflector *reflector.Observer
	Queue     *deltafifo.Observer
	Store     *indexer.Observer
}

// observedQueue returns what a handler fills, and what it tells of each event.
func (o *Observer) observedQueue(controller, cache string, queue enqueue.Queue) (enqueue.Queue, func(types.NamespacedName, string)) {
	if o == nil || o.Fill == nil {
		return queue, nil
	}
	fill, event := o.Fill(controller, cache, queue)
	if fill == nil {
		fill = queue
	}
	return fill, event
}

// observeCache gives a cache the observers that the manager's Observer has for it.
func observeCache[T any](o *Observer, opts informer.Options[T]) informer.Options[T] {
	if o == nil || o.Cache == nil {
		return opts
	}
	observers := o.Cache(opts.Name, CacheObservers{opts.Observer, opts.Reflector.Observer, opts.Queue.Observer, opts.Store.Observer})
	opts.Observer, opts.Reflector.Observer, opts.Queue.Observer, opts.Store.Observer = observers.Informer, observers.Reflector, observers.Queue, observers.Store
	return opts
}

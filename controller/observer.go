package controller

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/deltafifo"
	"github.com/kinform/kinform/indexer"
	"github.com/kinform/kinform/informer"
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
	// is empty. next are the observers of its Selection: the returned ones have to call them.
	// If several Selections have the same objects, those of the first count.
	Cache func(name string, next CacheObservers) CacheObservers
}

// CacheObservers are the observers of the stages of a cache. Each may be nil.
type CacheObservers struct {
	Informer  *informer.Observer
	Reflector *reflector.Observer
	Queue     *deltafifo.Observer
	Store     *indexer.Observer
}

// observeCache gives a cache the observers that the manager's Observer has for it.
func observeCache[T any](o *Observer, opts informer.Options[T], resource string) informer.Options[T] {
	if o == nil || o.Cache == nil {
		return opts
	}
	if opts.Name == "" {
		opts.Name = resource
	}
	observers := o.Cache(opts.Name, CacheObservers{opts.Observer, opts.Reflector.Observer, opts.Queue.Observer, opts.Store.Observer})
	opts.Observer, opts.Reflector.Observer, opts.Queue.Observer, opts.Store.Observer = observers.Informer, observers.Reflector, observers.Queue, observers.Store
	return opts
}

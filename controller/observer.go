package controller

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/deltafifo"
	"github.com/kinform/kinform/indexer"
	"github.com/kinform/kinform/informer"
	"github.com/kinform/kinform/reflector"
	"github.com/kinform/kinform/workqueue"
)

// Observer gives observers to the parts of a manager as they are made, so that metrics hear
// of all of them. Any field may be nil.
type Observer struct {
	// Queue returns the observer of the queue of a controller. next is the one that its
	// Settings have, or nil: what is returned is to call it.
	Queue func(controller string, next *workqueue.Observer[types.NamespacedName]) *workqueue.Observer[types.NamespacedName]

	// Cache returns the observers of a cache, by its Informer.Name, which is the resource where
	// that is empty. next are those that its Selection has: what is returned is to call them. Of
	// several selections of the same objects, those of the first count.
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

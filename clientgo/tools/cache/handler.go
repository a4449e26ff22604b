package cache

// ResourceEventHandler is notified of changes to the objects of an informer, one call at a time.
// The objects are shared with the store and must not be modified.
type ResourceEventHandler interface {
	// OnAdd is called for an object that the informer did not have. isInInitialList is true if the
	// object existed when the informer started or the handler was added.
	OnAdd(obj interface{}, isInInitialList bool)
	// OnUpdate is called for a change. Each resync also calls it for every object, with the same
	// object twice.
	OnUpdate(oldObj, newObj interface{})
	// OnDelete is called when an object was deleted. It gets the last state, or a
	// [DeletedFinalStateUnknown] if the informer missed the deletion event.
	OnDelete(obj interface{})
}

// ResourceEventHandlerFuncs makes a handler of functions. Each function may be nil.
type ResourceEventHandlerFuncs struct {
	AddFunc    func(obj interface{})
	UpdateFunc func(oldObj, newObj interface{})
	DeleteFunc func(obj interface{})
}

// OnAdd calls AddFunc.
func (r ResourceEventHandlerFuncs) OnAdd(obj interface{}, isInInitialList bool) {
	if r.AddFunc != nil {
		r.AddFunc(obj)
	}
}

// OnUpdate calls UpdateFunc.
func (r ResourceEventHandlerFuncs) OnUpdate(oldObj, newObj interface{}) {
	if r.UpdateFunc != nil {
		r.UpdateFunc(oldObj, newObj)
	}
}

// OnDelete calls DeleteFunc.
func (r ResourceEventHandlerFuncs) OnDelete(obj interface{}) {
	if r.DeleteFunc != nil {
		r.DeleteFunc(obj)
	}
}

// ResourceEventHandlerDetailedFuncs is ResourceEventHandlerFuncs with an AddFunc that gets
// isInInitialList.
type ResourceEventHandlerDetailedFuncs struct {
	AddFunc    func(obj interface{}, isInInitialList bool)
	UpdateFunc func(oldObj, newObj interface{})
	DeleteFunc func(obj interface{})
}

// OnAdd calls AddFunc.
func (r ResourceEventHandlerDetailedFuncs) OnAdd(obj interface{}, isInInitialList bool) {
	if r.AddFunc != nil {
		r.AddFunc(obj, isInInitialList)
	}
}

// OnUpdate calls UpdateFunc.
func (r ResourceEventHandlerDetailedFuncs) OnUpdate(oldObj, newObj interface{}) {
	if r.UpdateFunc != nil {
		r.UpdateFunc(oldObj, newObj)
	}
}

// OnDelete calls DeleteFunc.
func (r ResourceEventHandlerDetailedFuncs) OnDelete(obj interface{}) {
	if r.DeleteFunc != nil {
		r.DeleteFunc(obj)
	}
}

// FilteringResourceEventHandler notifies a handler only of objects for which FilterFunc is true. An
// update that makes FilterFunc true becomes an OnAdd. An update that makes FilterFunc false becomes
// an OnDelete (SI-28).
//
// For a deletion, FilterFunc gets the argument of OnDelete, which may be a
// [DeletedFinalStateUnknown].
type FilteringResourceEventHandler struct {
	FilterFunc func(obj interface{}) bool
	Handler    ResourceEventHandler
}

// OnAdd calls the handler if FilterFunc(obj) is true.
func (r FilteringResourceEventHandler) OnAdd(obj interface{}, isInInitialList bool) {
	if r.FilterFunc(obj) {
		r.Handler.OnAdd(obj, isInInitialList)
	}
}

// OnUpdate calls the handler's OnAdd, OnUpdate or OnDelete, or does nothing, depending on the
// results of FilterFunc for both states.
func (r FilteringResourceEventHandler) OnUpdate(oldObj, newObj interface{}) {
	after, before := r.FilterFunc(newObj), r.FilterFunc(oldObj)
	if before && after {
		r.Handler.OnUpdate(oldObj, newObj)
	} else if after {
		r.Handler.OnAdd(newObj, false)
	} else if before {
		r.Handler.OnDelete(oldObj)
	}
}

// OnDelete calls the handler if FilterFunc(obj) is true.
func (r FilteringResourceEventHandler) OnDelete(obj interface{}) {
	if r.FilterFunc(obj) {
		r.Handler.OnDelete(obj)
	}
}

package cache

// ResourceEventHandler hears of the objects of an informer, one call at a time. The objects are those of the store:
// nobody may change them.
type ResourceEventHandler interface {
	// OnAdd is told of an object that the informer did not have. isInInitialList says that it is one of those that
	// existed when the informer, or the handler, began.
	OnAdd(obj interface{}, isInInitialList bool)
	// OnUpdate is told of a change. It is also told of every object at each resync, and then both are the same.
	OnUpdate(oldObj, newObj interface{})
	// OnDelete is told that an object is gone: with its last state or, if the informer has not heard of the deletion
	// itself, with a [DeletedFinalStateUnknown].
	OnDelete(obj interface{})
}

// ResourceEventHandlerFuncs makes functions a handler. Each may be nil.
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

// ResourceEventHandlerDetailedFuncs is ResourceEventHandlerFuncs with an AddFunc that is told of the initial list.
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

// FilteringResourceEventHandler tells a handler of the objects for which FilterFunc is true, as if there were no
// others: an update that makes it true is an OnAdd, and one that makes it false an OnDelete (SI-28).
//
// Of a deletion, FilterFunc is asked about what OnDelete got, which may be a [DeletedFinalStateUnknown].
type FilteringResourceEventHandler struct {
	FilterFunc func(obj interface{}) bool
	Handler    ResourceEventHandler
}

// OnAdd tells the handler if the filter lets obj pass.
func (r FilteringResourceEventHandler) OnAdd(obj interface{}, isInInitialList bool) {
	if r.FilterFunc(obj) {
		r.Handler.OnAdd(obj, isInInitialList)
	}
}

// OnUpdate tells the handler what the update is to it: an OnAdd, an OnUpdate, an OnDelete, or nothing.
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

// OnDelete tells the handler if the filter lets obj pass.
func (r FilteringResourceEventHandler) OnDelete(obj interface{}) {
	if r.FilterFunc(obj) {
		r.Handler.OnDelete(obj)
	}
}

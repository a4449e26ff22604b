package cache

// Object is an API object behind a pointer, such as *v1.Pod.
type Object interface {
	comparable

	GetName() string
	GetNamespace() string
}

// TypedResourceEventHandler is [ResourceEventHandler] for objects of one type.
type TypedResourceEventHandler[T Object] interface {
	OnAdd(obj T, isInInitialList bool)
	OnUpdate(oldObj, newObj T)
	OnDelete(obj DeletedObject[T])
}

// DeletedObject identifies a deleted object. Its methods also work if the object's last state is
// unknown.
type DeletedObject[T Object] struct {
	// OptionalObj is the last known state, or the zero T if no state is known. If FinalStateUnknown
	// is set, the object may have changed after that state.
	OptionalObj T
	// FinalStateUnknown is set if the informer missed the deletion event, and nil otherwise. Its
	// Obj is OptionalObj.
	FinalStateUnknown *DeletedFinalStateUnknown
}

// GetObjectName returns the namespace and name. If the key is malformed, the whole key is the name.
func (d DeletedObject[T]) GetObjectName() ObjectName {
	if d.FinalStateUnknown != nil {
		name, err := ParseObjectName(d.FinalStateUnknown.Key)
		if err != nil {
			return ObjectName{Name: d.FinalStateUnknown.Key}
		}
		return name
	}
	var none T
	if d.OptionalObj == none {
		return ObjectName{}
	}
	return ObjectName{Namespace: d.OptionalObj.GetNamespace(), Name: d.OptionalObj.GetName()}
}

// GetName returns the name without the namespace.
func (d DeletedObject[T]) GetName() string { return d.GetObjectName().Name }

// GetNamespace returns the namespace, or "" for a cluster-scoped object.
func (d DeletedObject[T]) GetNamespace() string { return d.GetObjectName().Namespace }

// GetKey returns the key that the object had in the store.
func (d DeletedObject[T]) GetKey() string {
	if d.FinalStateUnknown != nil {
		return d.FinalStateUnknown.Key
	}
	return d.GetObjectName().String()
}

// TypedResourceEventHandlerFuncs makes a handler of functions. Each function may be nil.
type TypedResourceEventHandlerFuncs[T Object] struct {
	AddFunc    func(obj T)
	UpdateFunc func(oldObj, newObj T)
	DeleteFunc func(obj DeletedObject[T])
}

// OnAdd calls AddFunc.
func (r TypedResourceEventHandlerFuncs[T]) OnAdd(obj T, isInInitialList bool) {
	if r.AddFunc != nil {
		r.AddFunc(obj)
	}
}

// OnUpdate calls UpdateFunc.
func (r TypedResourceEventHandlerFuncs[T]) OnUpdate(oldObj, newObj T) {
	if r.UpdateFunc != nil {
		r.UpdateFunc(oldObj, newObj)
	}
}

// OnDelete calls DeleteFunc.
func (r TypedResourceEventHandlerFuncs[T]) OnDelete(obj DeletedObject[T]) {
	if r.DeleteFunc != nil {
		r.DeleteFunc(obj)
	}
}

// TypedResourceEventHandlerDetailedFuncs is TypedResourceEventHandlerFuncs with an AddFunc that
// gets isInInitialList.
type TypedResourceEventHandlerDetailedFuncs[T Object] struct {
	AddFunc    func(obj T, isInInitialList bool)
	UpdateFunc func(oldObj, newObj T)
	DeleteFunc func(obj DeletedObject[T])
}

// OnAdd calls AddFunc.
func (r TypedResourceEventHandlerDetailedFuncs[T]) OnAdd(obj T, isInInitialList bool) {
	if r.AddFunc != nil {
		r.AddFunc(obj, isInInitialList)
	}
}

// OnUpdate calls UpdateFunc.
func (r TypedResourceEventHandlerDetailedFuncs[T]) OnUpdate(oldObj, newObj T) {
	if r.UpdateFunc != nil {
		r.UpdateFunc(oldObj, newObj)
	}
}

// OnDelete calls DeleteFunc.
func (r TypedResourceEventHandlerDetailedFuncs[T]) OnDelete(obj DeletedObject[T]) {
	if r.DeleteFunc != nil {
		r.DeleteFunc(obj)
	}
}

// TypedFilteringResourceEventHandler is [FilteringResourceEventHandler] for objects of one type.
// For a deletion, FilterFunc gets the last known state, or the zero T if no state is known.
// FilterFunc must handle the zero T.
type TypedFilteringResourceEventHandler[T Object] struct {
	FilterFunc func(obj T) bool
	Handler    TypedResourceEventHandler[T]
}

// OnAdd calls the handler if FilterFunc(obj) is true.
func (r TypedFilteringResourceEventHandler[T]) OnAdd(obj T, isInInitialList bool) {
	if r.FilterFunc(obj) {
		r.Handler.OnAdd(obj, isInInitialList)
	}
}

// OnUpdate calls the handler's OnAdd, OnUpdate or OnDelete, or does nothing, depending on the
// results of FilterFunc for both states.
func (r TypedFilteringResourceEventHandler[T]) OnUpdate(oldObj, newObj T) {
	after, before := r.FilterFunc(newObj), r.FilterFunc(oldObj)
	if before && after {
		r.Handler.OnUpdate(oldObj, newObj)
	} else if after {
		r.Handler.OnAdd(newObj, false)
	} else if before {
		r.Handler.OnDelete(DeletedObject[T]{OptionalObj: oldObj})
	}
}

// OnDelete calls the handler if FilterFunc is true for the last known state.
func (r TypedFilteringResourceEventHandler[T]) OnDelete(obj DeletedObject[T]) {
	if r.FilterFunc(obj.OptionalObj) {
		r.Handler.OnDelete(obj)
	}
}

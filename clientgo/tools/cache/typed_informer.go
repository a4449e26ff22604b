package cache

import (
	"errors"
	"fmt"
)

// TypedSharedIndexInformer is [SharedIndexInformer] for objects of one type.
type TypedSharedIndexInformer[T Object] interface {
	SharedIndexInformer
	// AddTypedEventHandler adds a handler. It accepts at most one HandlerOptions.
	AddTypedEventHandler(handler TypedResourceEventHandler[T], options ...HandlerOptions) (ResourceEventHandlerRegistration, error)
	// AddTypedIndexers is AddIndexers with typed index functions.
	AddTypedIndexers(indexers TypedIndexers[T]) error
	// GetTypedIndexer is GetIndexer with typed results.
	GetTypedIndexer() TypedIndexer[T]
}

// NewTypedSharedIndexInformer wraps an informer with a typed interface. All objects of the informer
// must be of type T.
func NewTypedSharedIndexInformer[T Object](informer SharedIndexInformer) TypedSharedIndexInformer[T] {
	return typedInformer[T]{informer}
}

type typedInformer[T Object] struct{ SharedIndexInformer }

func (i typedInformer[T]) AddTypedEventHandler(handler TypedResourceEventHandler[T], options ...HandlerOptions) (ResourceEventHandlerRegistration, error) {
	if len(options) > 1 {
		return nil, fmt.Errorf("AddTypedEventHandler takes one value of HandlerOptions at most, and got %d", len(options))
	}
	if handler == nil {
		return nil, errors.New("AddTypedEventHandler: the handler is nil")
	}
	var opts HandlerOptions
	if len(options) == 1 {
		opts = options[0]
	}
	return i.AddEventHandlerWithOptions(typedHandler[T]{handler}, opts)
}

func (i typedInformer[T]) AddTypedIndexers(indexers TypedIndexers[T]) error {
	return i.AddIndexers(TypedIndexersToIndexers(indexers))
}

func (i typedInformer[T]) GetTypedIndexer() TypedIndexer[T] { return typedIndexer[T]{i.GetIndexer()} }

// typedHandler adapts a typed handler to an untyped informer.
type typedHandler[T Object] struct{ handler TypedResourceEventHandler[T] }

func (h typedHandler[T]) OnAdd(obj interface{}, isInInitialList bool) {
	h.handler.OnAdd(obj.(T), isInInitialList)
}

func (h typedHandler[T]) OnUpdate(oldObj, newObj interface{}) {
	h.handler.OnUpdate(oldObj.(T), newObj.(T))
}

func (h typedHandler[T]) OnDelete(obj interface{}) {
	tombstone, ok := obj.(DeletedFinalStateUnknown)
	if !ok {
		h.handler.OnDelete(DeletedObject[T]{OptionalObj: obj.(T)})
		return
	}
	last, _ := tombstone.Obj.(T)
	h.handler.OnDelete(DeletedObject[T]{OptionalObj: last, FinalStateUnknown: &tombstone})
}

type typedIndexer[T any] struct{ Indexer }

func (x typedIndexer[T]) TypedIndex(indexName string, obj T) ([]T, error) {
	objs, err := x.Index(indexName, obj)
	return typedSlice[T](objs), err
}

func (x typedIndexer[T]) ByTypedIndex(indexName, indexedValue string) ([]T, error) {
	objs, err := x.ByIndex(indexName, indexedValue)
	return typedSlice[T](objs), err
}

func (x typedIndexer[T]) AddTypedIndexers(newIndexers TypedIndexers[T]) error {
	return x.AddIndexers(TypedIndexersToIndexers(newIndexers))
}

func typedSlice[T any](objs []interface{}) []T {
	if objs == nil {
		return nil
	}
	typed := make([]T, len(objs))
	for i, obj := range objs {
		typed[i] = obj.(T)
	}
	return typed
}

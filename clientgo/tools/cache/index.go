package cache

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/sets"
)

// Indexer is a [Store] with indexes. Each index has a name, and a function that returns the values
// under which an object is found.
type Indexer interface {
	Store
	// Index returns the objects that share a value with obj in the index of this name.
	Index(indexName string, obj interface{}) ([]interface{}, error)
	// IndexKeys returns the keys of the objects that have this value in the index, sorted.
	IndexKeys(indexName, indexedValue string) ([]string, error)
	// ListIndexFuncValues returns all values that objects have in the index, or nothing if the
	// index does not exist.
	ListIndexFuncValues(indexName string) []string
	// ByIndex returns the objects that have this value in the index.
	ByIndex(indexName, indexedValue string) ([]interface{}, error)
	// GetIndexers returns the indexer's own map, which must not be modified.
	GetIndexers() Indexers
	// AddIndexers adds indexes and indexes the existing objects. If an index with one of the names
	// exists already, AddIndexers adds no index and returns an error.
	AddIndexers(newIndexers Indexers) error
}

// IndexFunc returns the values of an object in an index. An object may have no values.
type IndexFunc func(obj interface{}) ([]string, error)

// Indexers are index functions by the index's name.
type Indexers map[string]IndexFunc

// Indices is an argument of NewThreadSafeStore for compatibility. The store ignores it.
type Indices map[string]index

type index map[string]sets.Set[string]

// NamespaceIndex is the usual name of the index with [MetaNamespaceIndexFunc].
const NamespaceIndex string = "namespace"

// MetaNamespaceIndexFunc indexes by namespace.
func MetaNamespaceIndexFunc(obj interface{}) ([]string, error) {
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return []string{""}, fmt.Errorf("object has no meta: %w", err)
	}
	return []string{accessor.GetNamespace()}, nil
}

// TypedIndexer is an Indexer whose results are of type T.
type TypedIndexer[T any] interface {
	Indexer
	// TypedIndex is Index with objects of type T.
	TypedIndex(indexName string, obj T) ([]T, error)
	// ByTypedIndex is ByIndex with objects of type T.
	ByTypedIndex(indexName, indexedValue string) ([]T, error)
	// AddTypedIndexers is AddIndexers with typed index functions.
	AddTypedIndexers(newIndexers TypedIndexers[T]) error
}

// TypedIndexFunc is an IndexFunc of objects of type T.
type TypedIndexFunc[T any] func(obj T) ([]string, error)

// TypedIndexers are Indexers of objects of type T.
type TypedIndexers[T any] map[string]TypedIndexFunc[T]

// TypedIndexerFuncToIndexerFunc converts an index function. The result panics on objects of another
// type.
func TypedIndexerFuncToIndexerFunc[T any](indexer TypedIndexFunc[T]) IndexFunc {
	return func(obj interface{}) ([]string, error) { return indexer(obj.(T)) }
}

// TypedIndexersToIndexers converts each index function.
func TypedIndexersToIndexers[T any](indexers TypedIndexers[T]) Indexers {
	out := make(Indexers, len(indexers))
	for name, fn := range indexers {
		out[name] = TypedIndexerFuncToIndexerFunc(fn)
	}
	return out
}

package cache

// PLACEHOLDER: stores, keys and queue types, small and correct, until those of the owner `store` are here. Delete this
// file then; nothing else in the package depends on how it is done.

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
)

// KeyFunc returns the key of an object.
type KeyFunc func(obj interface{}) (string, error)

// KeyError says that an object has no key.
type KeyError struct {
	Obj interface{}
	Err error
}

// Error has the object and the reason.
func (k KeyError) Error() string {
	return fmt.Sprintf("couldn't create key for object %+v: %v", k.Obj, k.Err)
}

// Unwrap returns the reason.
func (k KeyError) Unwrap() error { return k.Err }

// ExplicitKey is a key in the place of an object.
type ExplicitKey string

// DeletedFinalStateUnknown is in the place of an object whose deletion was not heard of. Obj is its last known state.
type DeletedFinalStateUnknown struct {
	Key string
	Obj interface{}
}

// ObjectName is a namespace and a name.
type ObjectName struct {
	Namespace string
	Name      string
}

// String returns the key.
func (n ObjectName) String() string {
	if n.Namespace == "" {
		return n.Name
	}
	return n.Namespace + "/" + n.Name
}

// ParseObjectName reads a key.
func ParseObjectName(str string) (name ObjectName, err error) {
	name.Namespace, name.Name, err = SplitMetaNamespaceKey(str)
	return name, err
}

// SplitMetaNamespaceKey reads a key.
func SplitMetaNamespaceKey(key string) (namespace, name string, err error) {
	parts := strings.Split(key, "/")
	switch len(parts) {
	case 1:
		return "", parts[0], nil
	case 2:
		return parts[0], parts[1], nil
	}
	return "", "", fmt.Errorf("unexpected key format: %q", key)
}

// MetaNamespaceKeyFunc returns namespace/name, or name.
func MetaNamespaceKeyFunc(obj interface{}) (string, error) {
	if key, ok := obj.(ExplicitKey); ok {
		return string(key), nil
	}
	o, err := meta.Accessor(obj)
	if err != nil {
		return "", fmt.Errorf("object has no meta: %w", err)
	}
	return ObjectName{o.GetNamespace(), o.GetName()}.String(), nil
}

// DeletionHandlingMetaNamespaceKeyFunc is MetaNamespaceKeyFunc for tombstones as well.
func DeletionHandlingMetaNamespaceKeyFunc(obj interface{}) (string, error) {
	if d, ok := obj.(DeletedFinalStateUnknown); ok {
		return d.Key, nil
	}
	return MetaNamespaceKeyFunc(obj)
}

// MetaNamespaceIndexFunc indexes by namespace.
func MetaNamespaceIndexFunc(obj interface{}) ([]string, error) {
	o, err := meta.Accessor(obj)
	if err != nil {
		return nil, err
	}
	return []string{o.GetNamespace()}, nil
}

// NamespaceIndex is the usual name of the index by namespace.
const NamespaceIndex string = "namespace"

// Store keeps objects by key.
type Store interface {
	Add(obj interface{}) error
	Update(obj interface{}) error
	Delete(obj interface{}) error
	List() []interface{}
	ListKeys() []string
	Get(obj interface{}) (item interface{}, exists bool, err error)
	GetByKey(key string) (item interface{}, exists bool, err error)
	Replace([]interface{}, string) error
	Resync() error
	Bookmark(rv string)
	LastStoreSyncResourceVersion() string
}

// IndexFunc returns the values of an object in an index.
type IndexFunc func(obj interface{}) ([]string, error)

// Indexers are index functions by name.
type Indexers map[string]IndexFunc

// Indexer is a Store with indexes.
type Indexer interface {
	Store
	Index(indexName string, obj interface{}) ([]interface{}, error)
	IndexKeys(indexName, indexedValue string) ([]string, error)
	ListIndexFuncValues(indexName string) []string
	ByIndex(indexName, indexedValue string) ([]interface{}, error)
	GetIndexers() Indexers
	AddIndexers(newIndexers Indexers) error
}

// TypedIndexFunc is an IndexFunc of one type.
type TypedIndexFunc[T any] func(obj T) ([]string, error)

// TypedIndexers are typed index functions by name.
type TypedIndexers[T any] map[string]TypedIndexFunc[T]

// TypedIndexer is an Indexer of one type.
type TypedIndexer[T any] interface {
	Indexer
	TypedIndex(indexName string, obj T) ([]T, error)
	ByTypedIndex(indexName, indexedValue string) ([]T, error)
	AddTypedIndexers(newIndexers TypedIndexers[T]) error
}

// TypedIndexersToIndexers takes the types away.
func TypedIndexersToIndexers[T any](indexers TypedIndexers[T]) Indexers {
	untyped := make(Indexers, len(indexers))
	for name, fn := range indexers {
		untyped[name] = func(obj interface{}) ([]string, error) { return fn(obj.(T)) }
	}
	return untyped
}

// MutationDetector finds cached objects that were changed.
type MutationDetector interface {
	AddObject(obj interface{})
	Run(stopCh <-chan struct{})
}

type noDetector struct{}

func (noDetector) AddObject(interface{}) {}
func (noDetector) Run(<-chan struct{})   {}

// NewCacheMutationDetector returns one that does nothing.
func NewCacheMutationDetector(name string) MutationDetector { return noDetector{} }

type placeholder struct {
	keyOf    KeyFunc
	mu       sync.RWMutex // guards following
	objs     map[string]interface{}
	indexers Indexers
	version  string
}

// NewStore returns an empty Store.
func NewStore(keyFunc KeyFunc) Store { return NewIndexer(keyFunc, Indexers{}) }

// NewIndexer returns an empty Indexer.
func NewIndexer(keyFunc KeyFunc, indexers Indexers) Indexer {
	if indexers == nil {
		indexers = Indexers{}
	}
	return &placeholder{keyOf: keyFunc, objs: map[string]interface{}{}, indexers: indexers}
}

func (p *placeholder) write(obj interface{}, change func(key string)) error {
	key, err := p.keyOf(obj)
	if err != nil {
		return KeyError{obj, err}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	change(key)
	if o, err := meta.Accessor(obj); err == nil {
		p.version = o.GetResourceVersion()
	}
	return nil
}

func (p *placeholder) Add(obj interface{}) error {
	return p.write(obj, func(key string) { p.objs[key] = obj })
}
func (p *placeholder) Update(obj interface{}) error { return p.Add(obj) }
func (p *placeholder) Delete(obj interface{}) error {
	return p.write(obj, func(key string) { delete(p.objs, key) })
}

func (p *placeholder) List() []interface{} {
	p.mu.RLock()
	defer p.mu.RUnlock()
	list := make([]interface{}, 0, len(p.objs))
	for _, obj := range p.objs {
		list = append(list, obj)
	}
	return list
}

func (p *placeholder) ListKeys() []string {
	p.mu.RLock()
	defer p.mu.RUnlock()
	list := make([]string, 0, len(p.objs))
	for key := range p.objs {
		list = append(list, key)
	}
	return list
}

func (p *placeholder) Get(obj interface{}) (interface{}, bool, error) {
	key, err := p.keyOf(obj)
	if err != nil {
		return nil, false, KeyError{obj, err}
	}
	return p.GetByKey(key)
}

func (p *placeholder) GetByKey(key string) (interface{}, bool, error) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	obj, ok := p.objs[key]
	return obj, ok, nil
}

func (p *placeholder) Replace(list []interface{}, version string) error {
	objs := make(map[string]interface{}, len(list))
	for _, obj := range list {
		key, err := p.keyOf(obj)
		if err != nil {
			return KeyError{obj, err}
		}
		objs[key] = obj
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.objs, p.version = objs, version
	return nil
}

func (p *placeholder) Resync() error { return nil }
func (p *placeholder) Bookmark(rv string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.version = rv
}
func (p *placeholder) LastStoreSyncResourceVersion() string {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.version
}

func (p *placeholder) having(name string, match func(values []string) bool) (keys []string, err error) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	fn := p.indexers[name]
	if fn == nil {
		return nil, fmt.Errorf("Index with name %s does not exist", name)
	}
	for key, obj := range p.objs {
		values, err := fn(obj)
		if err != nil {
			return nil, err
		}
		if match(values) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys, nil
}

func (p *placeholder) objects(keys []string) []interface{} {
	objs := make([]interface{}, 0, len(keys))
	for _, key := range keys {
		if obj, ok, _ := p.GetByKey(key); ok {
			objs = append(objs, obj)
		}
	}
	return objs
}

func (p *placeholder) Index(name string, obj interface{}) ([]interface{}, error) {
	p.mu.RLock()
	fn := p.indexers[name]
	p.mu.RUnlock()
	if fn == nil {
		return nil, fmt.Errorf("Index with name %s does not exist", name)
	}
	want, err := fn(obj)
	if err != nil {
		return nil, err
	}
	keys, err := p.having(name, func(values []string) bool {
		return slices.ContainsFunc(values, func(v string) bool { return slices.Contains(want, v) })
	})
	return p.objects(keys), err
}

func (p *placeholder) IndexKeys(name, value string) ([]string, error) {
	return p.having(name, func(values []string) bool { return slices.Contains(values, value) })
}

func (p *placeholder) ByIndex(name, value string) ([]interface{}, error) {
	keys, err := p.IndexKeys(name, value)
	if err != nil {
		return nil, err
	}
	return p.objects(keys), nil
}

func (p *placeholder) ListIndexFuncValues(name string) []string {
	var all []string
	p.having(name, func(values []string) bool { all = append(all, values...); return false })
	slices.Sort(all)
	return slices.Compact(all)
}

func (p *placeholder) GetIndexers() Indexers { return p.indexers }
func (p *placeholder) AddIndexers(more Indexers) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for name := range more {
		if p.indexers[name] != nil {
			return fmt.Errorf("indexer conflict: %v", name)
		}
	}
	for name, fn := range more {
		p.indexers[name] = fn
	}
	return nil
}

// DeltaType says what a Delta is.
type DeltaType string

// Delta is one change.
type Delta struct {
	Type   DeltaType
	Object interface{}
}

// PopProcessFunc processes what a Queue has.
type PopProcessFunc func(obj interface{}, isInInitialList bool) error

// ErrFIFOClosed says that a queue is closed and empty.
var ErrFIFOClosed = errors.New("DeltaFIFO: manipulating with closed queue")

// ProcessBatchFunc processes several changes at once. If some fail, the error is a TransactionError.
type ProcessBatchFunc func(deltas []Delta, isInInitialList bool) error

// Queue is what a Config needs.
type Queue interface {
	ReflectorStore
	Pop(PopProcessFunc) (interface{}, error)
	HasSynced() bool
	HasSyncedChecker() DoneChecker
	Close()
}

// QueueWithBatch is a Queue that hands out several changes at once.
type QueueWithBatch interface {
	Queue
	PopBatch(processBatch ProcessBatchFunc, processSingle PopProcessFunc) error
}

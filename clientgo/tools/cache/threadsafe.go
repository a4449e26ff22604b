package cache

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/kinform/kinform/indexer"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
)

// ThreadSafeStore is an [Indexer] whose callers supply the keys. A key may be any string.
//
// A write panics if an index function fails on an object. The object is stored nevertheless, but is
// missing in that index.
type ThreadSafeStore interface {
	Add(key string, obj interface{})
	Update(key string, obj interface{})
	Delete(key string)
	// DeleteWithObject removes the object with this key, like Delete. It also sets the store's
	// version to the version of obj, which is the last state of the object.
	DeleteWithObject(key string, obj interface{})
	Get(key string) (item interface{}, exists bool)
	List() []interface{}
	ListKeys() []string
	Replace(map[string]interface{}, string)
	Index(indexName string, obj interface{}) ([]interface{}, error)
	IndexKeys(indexName, indexedValue string) ([]string, error)
	Bookmark(rv string)
	LastStoreSyncResourceVersion() string
	ListIndexFuncValues(name string) []string
	ByIndex(indexName, indexedValue string) ([]interface{}, error)
	GetIndexers() Indexers
	AddIndexers(newIndexers Indexers) error
	Resync() error
}

// ThreadSafeStoreTransaction is a [Transaction] with its key.
type ThreadSafeStoreTransaction struct {
	Transaction
	Key string
}

// ThreadSafeStoreWithTransaction is a ThreadSafeStore that makes several changes in one step. The
// stores of this package implement it.
type ThreadSafeStoreWithTransaction interface {
	ThreadSafeStore
	Transaction(fns ...ThreadSafeStoreTransaction)
}

// ThreadSafeStoreOption is an option of NewThreadSafeStore.
type ThreadSafeStoreOption = func(*threadSafeMap)

// WithThreadSafeStoreMetrics makes the store maintain the metric of its version, if the identity is
// reserved (see [InformerName.WithResource]).
func WithThreadSafeStoreMetrics(identifier InformerNameAndResource, metricsProvider InformerMetricsProvider) ThreadSafeStoreOption {
	return func(s *threadSafeMap) {
		if identifier.Reserved() {
			s.identifier = identifier
			s.gauge = informerMetricsProvider(metricsProvider).NewStoreResourceVersionMetric(identifier)
		}
	}
}

// NewThreadSafeStore returns an empty store. The store owns the map of indexers from then on. It
// ignores the argument indices.
func NewThreadSafeStore(indexers Indexers, indices Indices, opts ...ThreadSafeStoreOption) ThreadSafeStore {
	if indexers == nil {
		indexers = Indexers{}
	}
	s := &threadSafeMap{indexers: indexers}
	options := indexer.Options[any]{Indexes: make(map[string]indexer.IndexFunc[any], len(indexers))}
	for name, fn := range indexers {
		options.Indexes[name] = s.indexFunc(name, fn)
	}
	var err error
	if s.store, err = indexer.New(options); err != nil {
		panic(err)
	}
	published := maps.Clone(indexers)
	s.funcs.Store(&published)
	for _, opt := range opts {
		opt(s)
	}
	return s
}

// threadSafeMap adapts kinform's store to strings as keys. Readers take no lock.
type threadSafeMap struct {
	store *indexer.Store[any]
	funcs atomic.Pointer[Indexers] // never modified

	failureCount atomic.Int64 // len(failures)
	muFailures   sync.Mutex   // guards following
	failures     []indexFailure

	identifier InformerNameAndResource
	gauge      GaugeMetric // nil without metrics

	mu sync.Mutex // guards following
	// the result of GetIndexers; the map comes from the caller of NewThreadSafeStore
	indexers Indexers

	// version is the version of the last write (IX-16). It may go down, unlike the version of
	// kinform's store.
	muVersion sync.Mutex // guards following
	version   string
}

var _ ThreadSafeStoreWithTransaction = &threadSafeMap{}

// storeName converts a key to a key of kinform's store. Different strings have different results.
func storeName(key string) types.NamespacedName {
	if i := strings.IndexByte(key, '/'); i > 0 {
		return types.NamespacedName{Namespace: key[:i], Name: key[i+1:]}
	}
	return types.NamespacedName{Name: key}
}

func storeKey(n types.NamespacedName) string {
	if n.Namespace == "" {
		return n.Name
	}
	return n.Namespace + "/" + n.Name
}

// versionOf returns the version of an object, and whether the object has metadata.
func versionOf(obj interface{}) (string, bool) {
	if obj == nil {
		return "", false
	}
	if _, ok := obj.(DeletedFinalStateUnknown); ok {
		return "", false
	}
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return "", false
	}
	return accessor.GetResourceVersion(), true
}

// indexFailure is a failure of an index function on an object. The write of this object panics with
// the value of the field panic.
type indexFailure struct {
	index         string
	object, panic any
}

// indexFunc wraps an index function for kinform's store, which would not store an object on which
// the function fails. If the function fails, the wrapper returns no values, and the write panics
// after all objects are stored.
func (s *threadSafeMap) indexFunc(name string, fn IndexFunc) indexer.IndexFunc[any] {
	return func(obj any) (values []string, err error) {
		defer func() {
			if p := recover(); p != nil {
				values, err = nil, nil
				// log only the first failure: a list may have a hundred thousand failing objects
				if s.saveFailure(indexFailure{name, obj, p}) {
					logStack(context.Background(), "An index function panicked", p)
				}
			}
		}()
		if values, err = fn(obj); err != nil {
			s.saveFailure(indexFailure{name, obj, fmt.Errorf("unable to calculate an index entry on index %q: %w", name, err)})
		}
		return values, nil
	}
}

// saveFailure saves a failure for the write that will panic with it, and reports whether it is the
// only saved failure.
func (s *threadSafeMap) saveFailure(f indexFailure) (first bool) {
	s.muFailures.Lock()
	defer s.muFailures.Unlock()
	s.failures = append(s.failures, f)
	s.failureCount.Store(int64(len(s.failures)))
	return len(s.failures) == 1
}

// panicOnFailure panics if an index function has failed for the caller's write. isMine reports
// whether a failure belongs to that write.
func (s *threadSafeMap) panicOnFailure(isMine func(indexFailure) bool) {
	if s.failureCount.Load() == 0 {
		return
	}
	if failure, failed := s.takeFailures(isMine); failed {
		panic(failure.panic)
	}
}

// takeFailures removes the failures of a write and returns the first of them.
func (s *threadSafeMap) takeFailures(isMine func(indexFailure) bool) (first indexFailure, failed bool) {
	s.muFailures.Lock()
	defer s.muFailures.Unlock()
	s.failures = slices.DeleteFunc(s.failures, func(f indexFailure) bool {
		mine := isMine(f)
		if mine && !failed {
			first, failed = f, true
		}
		return mine
	})
	s.failureCount.Store(int64(len(s.failures)))
	return first, failed
}

// failuresOf returns a function that reports whether a failure is about an object that ops write.
func failuresOf(ops []indexer.Op[any]) func(indexFailure) bool {
	var written map[any]struct{} // made for the first failure
	return func(f indexFailure) bool {
		if written == nil {
			written = make(map[any]struct{}, len(ops))
			for _, op := range ops {
				if !op.Delete {
					written[identity(op.Object)] = struct{}{}
				}
			}
		}
		_, mine := written[identity(f.object)]
		return mine
	}
}

// identity returns a map key for an object. If the object is not comparable, the key is its type.
func identity(obj any) any {
	if v := reflect.ValueOf(obj); v.IsValid() && !v.Comparable() {
		return v.Type()
	}
	return obj
}

func (s *threadSafeMap) apply(obj interface{}, ops ...indexer.Op[any]) {
	_, err := s.store.Apply(ops, "")
	utilruntime.Must(err) // the wrapped index functions don't fail
	if version, ok := versionOf(obj); ok {
		s.Bookmark(version)
	}
	s.panicOnFailure(failuresOf(ops))
}

func put(key string, obj interface{}) indexer.Op[any] {
	version, _ := versionOf(obj)
	return indexer.Op[any]{Key: storeName(key), Object: obj, ResourceVersion: version}
}

func (s *threadSafeMap) Add(key string, obj interface{})    { s.apply(obj, put(key, obj)) }
func (s *threadSafeMap) Update(key string, obj interface{}) { s.apply(obj, put(key, obj)) }
func (s *threadSafeMap) Delete(key string)                  { s.DeleteWithObject(key, nil) }

func (s *threadSafeMap) DeleteWithObject(key string, obj interface{}) {
	s.apply(obj, indexer.Op[any]{Key: storeName(key), Delete: true})
}

func (s *threadSafeMap) Transaction(fns ...ThreadSafeStoreTransaction) {
	if len(fns) == 0 {
		return
	}
	ops := make([]indexer.Op[any], 0, len(fns))
	for _, fn := range fns {
		switch fn.Type {
		case TransactionTypeAdd, TransactionTypeUpdate:
			ops = append(ops, put(fn.Key, fn.Object))
		case TransactionTypeDelete:
			ops = append(ops, indexer.Op[any]{Key: storeName(fn.Key), Delete: true})
		}
	}
	s.apply(fns[len(fns)-1].Object, ops...)
}

func (s *threadSafeMap) Replace(items map[string]interface{}, resourceVersion string) {
	ops := make([]indexer.Op[any], 0, len(items))
	for key, obj := range items {
		ops = append(ops, put(key, obj))
	}
	_, err := s.store.Replace(ops, "")
	utilruntime.Must(err)
	s.Bookmark(resourceVersion)
	s.panicOnFailure(failuresOf(ops))
}

func (s *threadSafeMap) Bookmark(rv string) {
	s.muVersion.Lock()
	s.version = rv
	s.muVersion.Unlock()
	if s.gauge != nil && s.identifier.Reserved() {
		if n, err := strconv.ParseFloat(rv, 64); err == nil {
			s.gauge.Set(n)
		}
	}
}

func (s *threadSafeMap) LastStoreSyncResourceVersion() string {
	s.muVersion.Lock()
	defer s.muVersion.Unlock()
	return s.version
}

func (s *threadSafeMap) Get(key string) (interface{}, bool) { return s.store.Get(storeName(key)) }
func (s *threadSafeMap) Resync() error                      { return nil }

func (s *threadSafeMap) List() []interface{} {
	list := make([]interface{}, 0, s.store.Len())
	for _, obj := range s.store.All() {
		list = append(list, obj)
	}
	return list
}

func (s *threadSafeMap) ListKeys() []string {
	list := make([]string, 0, s.store.Len())
	for key := range s.store.Keys() {
		list = append(list, storeKey(key))
	}
	return list
}

func errNoIndex(indexName string) error {
	return fmt.Errorf("Index with name %s does not exist", indexName) //nolint:staticcheck // programs compare the text
}

func (s *threadSafeMap) Index(indexName string, obj interface{}) ([]interface{}, error) {
	fn := (*s.funcs.Load())[indexName]
	if fn == nil {
		return nil, errNoIndex(indexName)
	}
	values, err := fn(obj)
	if err != nil {
		return nil, err
	}
	if len(values) == 1 {
		return s.ByIndex(indexName, values[0])
	}
	snapshot := s.store.Snapshot()
	defer snapshot.Release()
	index, err := snapshot.Index(indexName)
	if err != nil {
		return nil, errNoIndex(indexName)
	}
	seen := sets.Set[types.NamespacedName]{}
	list := []interface{}{}
	for _, value := range values {
		for key, obj := range index.Having(value) {
			if !seen.Has(key) {
				seen.Insert(key)
				list = append(list, obj)
			}
		}
	}
	return list, nil
}

func (s *threadSafeMap) ByIndex(indexName, indexedValue string) ([]interface{}, error) {
	index, err := s.store.Index(indexName)
	if err != nil {
		return nil, errNoIndex(indexName)
	}
	list := []interface{}{}
	for _, obj := range index.Having(indexedValue) {
		list = append(list, obj)
	}
	return list, nil
}

func (s *threadSafeMap) IndexKeys(indexName, indexedValue string) ([]string, error) {
	index, err := s.store.Index(indexName)
	if err != nil {
		return nil, errNoIndex(indexName)
	}
	list := []string{}
	for key := range index.Having(indexedValue) {
		list = append(list, storeKey(key))
	}
	slices.Sort(list)
	return list, nil
}

func (s *threadSafeMap) ListIndexFuncValues(indexName string) []string {
	list := []string{}
	if index, err := s.store.Index(indexName); err == nil {
		for value := range index.Values() {
			list = append(list, value)
		}
	}
	return list
}

func (s *threadSafeMap) GetIndexers() Indexers {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.indexers
}

func (s *threadSafeMap) AddIndexers(newIndexers Indexers) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := sets.Set[string]{}
	for name := range newIndexers {
		if _, ok := s.indexers[name]; ok {
			taken.Insert(name)
		}
	}
	if len(taken) > 0 {
		return fmt.Errorf("indexer conflict: %v", taken)
	}
	var added []string
	for name, fn := range newIndexers {
		if err := s.store.AddIndex(name, s.indexFunc(name, fn)); err != nil {
			for _, name := range added {
				_ = s.store.RemoveIndex(name)
			}
			return err
		}
		added = append(added, name)
	}
	maps.Copy(s.indexers, newIndexers)
	published := maps.Clone(s.indexers)
	s.funcs.Store(&published)
	s.panicOnFailure(func(f indexFailure) bool { return slices.Contains(added, f.index) })
	return nil
}

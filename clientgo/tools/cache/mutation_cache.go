package cache

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	lru "k8s.io/apimachinery/pkg/util/cache"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/klog/v2"
)

// MutationCache shows a store with what the program itself has written and the store has not heard of yet. It is safe
// for concurrent use. Objects are shared with the store, and must not be modified.
type MutationCache interface {
	// GetByKey returns the newer one of the store's object and the program's.
	GetByKey(key string) (interface{}, bool, error)
	// ByIndex is that of the Indexer, with the program's objects where they are newer.
	ByIndex(indexName, indexKey string) ([]interface{}, error)
	// Mutation tells of what the server has answered to a write. It is left out if the cache knows something newer.
	Mutation(interface{})
	// OnAddOrUpdate is to be called by a handler of the store's informer, for what it is told.
	OnAddOrUpdate(obj runtime.Object)
	// OnDelete is to be called by a handler of the store's informer: what was written to the object that is gone is
	// forgotten, and what is older than its end is left out from now on.
	OnDelete(obj runtime.Object)
}

// ResourceVersionComparator says which of two objects is newer.
type ResourceVersionComparator interface {
	// CompareResourceVersion returns -1 if lhs is older than rhs, 1 if it is newer, and 0 otherwise.
	CompareResourceVersion(lhs, rhs runtime.Object) int
}

// MutationCacheOptions are the choices of a [MutationCache].
type MutationCacheOptions struct {
	// Indexer is asked by ByIndex, which is an error without one.
	Indexer Indexer
	// TTL is how long something written is shown. Defaults to 5 minutes.
	TTL time.Duration
	// IncludeAdds has objects shown as well that the store has not, which may have been deleted: for TTL at most.
	IncludeAdds bool
	// MaxCacheSize is the number of objects; those which were not asked for the longest time go. Defaults to 100.
	MaxCacheSize int
}

// NewIntegerResourceVersionMutationCache is NewIntegerResourceVersionMutationCacheWithOptions for 100 objects.
func NewIntegerResourceVersionMutationCache(logger klog.Logger, backingCache Store, indexer Indexer, ttl time.Duration, includeAdds bool) MutationCache {
	return NewIntegerResourceVersionMutationCacheWithOptions(logger, backingCache, MutationCacheOptions{Indexer: indexer, TTL: ttl, IncludeAdds: includeAdds})
}

// NewIntegerResourceVersionMutationCacheWithOptions returns an empty one for objects whose resource versions are
// integers that grow, as those of Kubernetes.
func NewIntegerResourceVersionMutationCacheWithOptions(logger klog.Logger, backingCache Store, options MutationCacheOptions) MutationCache {
	if options.TTL == 0 {
		options.TTL = 5 * time.Minute
	}
	if options.MaxCacheSize == 0 {
		options.MaxCacheSize = 100
	}
	return &mutationCache{
		logger: logger, store: backingCache, indexer: options.Indexer, ttl: options.TTL, includeAdds: options.IncludeAdds,
		known: lru.NewLRUExpireCache(options.MaxCacheSize),
	}
}

type mutationCache struct {
	logger      klog.Logger
	store       Store
	indexer     Indexer // may be nil
	ttl         time.Duration
	includeAdds bool

	mu    sync.Mutex          // held by each method, so that it decides by one state of the following
	known *lru.LRUExpireCache // has a mutation by key
}

// compare is the order of a [ResourceVersionComparator], for versions that are integers. An object without a version has version
// 0, as the objects of fakes do. Other versions are equal, and reported.
func (c *mutationCache) compare(lhs, rhs runtime.Object) int {
	a, errA := integerVersion(lhs)
	b, errB := integerVersion(rhs)
	switch err := errors.Join(errA, errB); {
	case err != nil:
		utilruntime.HandleErrorWithLogger(c.logger, err, "Objects could not be compared")
		return 0
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func integerVersion(obj runtime.Object) (uint64, error) {
	o, err := meta.Accessor(obj)
	if err != nil {
		return 0, err
	}
	version, err := strconv.ParseUint(cmp.Or(o.GetResourceVersion(), "0"), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("resource version of %s/%s: %w", o.GetNamespace(), o.GetName(), err)
	}
	return version, nil
}

func uidOf(obj runtime.Object) types.UID {
	o, err := meta.Accessor(obj)
	if err != nil {
		return ""
	}
	return o.GetUID()
}

// mutation is what the cache knows of a key: what was written, or the last state of an object that is gone.
type mutation struct {
	item interface{}
	obj  runtime.Object // nil if item is none
	gone bool
}

func (c *mutationCache) get(key string) (mutation, bool) {
	item, ok := c.known.Get(key)
	if !ok {
		return mutation{}, false
	}
	return item.(mutation), true
}

// newer returns what is known, if it is newer than what the store has; nil if the object is gone since. What is not
// newer has no use any more.
func (c *mutationCache) newer(key string, stored interface{}) interface{} {
	obj, ok := stored.(runtime.Object)
	if !ok {
		return stored
	}
	known, ok := c.get(key)
	if !ok || known.obj == nil {
		return stored
	}
	if c.compare(obj, known.obj) >= 0 {
		c.known.Remove(key)
		return stored
	}
	if known.gone {
		return nil
	}
	return known.item
}

// isOld says that the store has something newer. client-go does not ask, and shows objects in an index that they have
// left.
func (c *mutationCache) isOld(key string, known mutation) bool {
	stored, exists, err := c.store.GetByKey(key)
	obj, ok := stored.(runtime.Object)
	return err == nil && exists && ok && known.obj != nil && c.compare(obj, known.obj) >= 0
}

func (c *mutationCache) GetByKey(key string) (interface{}, bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	stored, exists, err := c.store.GetByKey(key)
	if err != nil {
		return nil, false, err
	}
	if exists {
		obj := c.newer(key, stored)
		return obj, obj != nil, nil
	}
	if !c.includeAdds {
		return nil, false, nil
	}
	known, exists := c.get(key)
	if !exists || known.gone {
		return nil, false, nil
	}
	return known.item, true, nil
}

func (c *mutationCache) ByIndex(indexName, indexKey string) ([]interface{}, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.indexer == nil {
		return nil, errors.New("no indexer has been provided to the mutation cache")
	}
	keys, err := c.indexer.IndexKeys(indexName, indexKey)
	if err != nil {
		return nil, err
	}
	var list []interface{}
	for _, key := range keys {
		switch stored, exists, err := c.indexer.GetByKey(key); {
		case err != nil:
			return nil, err
		case exists:
			if obj := c.newer(key, stored); obj != nil {
				list = append(list, obj)
			}
		}
	}
	if c.includeAdds {
		list = append(list, c.added(indexName, indexKey, sets.New(keys...))...)
	}
	return list, nil
}

// added returns the objects with a value in an index that the index does not have, and of which the store has nothing newer.
func (c *mutationCache) added(indexName, indexKey string, indexed sets.Set[string]) (list []interface{}) {
	values := c.indexer.GetIndexers()[indexName]
	for _, k := range c.known.Keys() {
		key := k.(string)
		known, ok := c.get(key)
		if !ok || known.gone || indexed.Has(key) || c.isOld(key, known) {
			continue
		}
		of, err := values(known.item)
		if err != nil {
			utilruntime.HandleErrorWithLogger(c.logger, err, "An object of the mutation cache could not be indexed", "key", key, "index", indexName)
			continue
		}
		if sets.New(of...).Has(indexKey) {
			list = append(list, known.item)
		}
	}
	return list
}

func (c *mutationCache) Mutation(written interface{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	key, ok := c.key(written)
	if !ok {
		return
	}
	obj, _ := written.(runtime.Object)
	if obj != nil {
		if known, ok := c.get(key); ok && known.obj != nil {
			if order := c.compare(obj, known.obj); order < 0 || known.gone && (order == 0 || uidOf(known.obj) == uidOf(obj)) {
				return
			}
		}
	}
	c.known.Add(key, mutation{item: written, obj: obj}, c.ttl)
}

func (c *mutationCache) OnAddOrUpdate(obj runtime.Object) {
	c.mu.Lock()
	defer c.mu.Unlock()
	key, ok := c.key(obj)
	if !ok {
		return
	}
	if known, ok := c.get(key); ok && known.obj != nil && c.compare(obj, known.obj) >= 0 {
		c.known.Remove(key)
	}
}

func (c *mutationCache) OnDelete(obj runtime.Object) {
	c.mu.Lock()
	defer c.mu.Unlock()
	key, ok := c.key(obj)
	if !ok {
		return
	}
	if known, ok := c.get(key); ok && known.obj != nil && uidOf(known.obj) != uidOf(obj) && c.compare(obj, known.obj) < 0 {
		return // what is known is of the object's successor
	}
	c.known.Add(key, mutation{item: obj, obj: obj, gone: true}, c.ttl)
}

func (c *mutationCache) key(obj interface{}) (string, bool) {
	key, err := DeletionHandlingMetaNamespaceKeyFunc(obj)
	if err != nil {
		utilruntime.HandleErrorWithLogger(c.logger, err, "An object has no key, the mutation cache leaves it out")
	}
	return key, err == nil
}

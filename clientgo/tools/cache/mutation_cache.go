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

// MutationCache overlays a store with objects that the program has written and the store has not
// received yet. It is safe for concurrent use. Objects are shared with the store and must not be
// modified.
type MutationCache interface {
	// GetByKey returns the newer of the store's object and the written object.
	GetByKey(key string) (interface{}, bool, error)
	// ByIndex returns the results of the Indexer's ByIndex, with written objects in place of older
	// states of the same objects.
	ByIndex(indexName, indexKey string) ([]interface{}, error)
	// Mutation records the server's response to a write. It has no effect if the cache has a newer
	// state.
	Mutation(interface{})
	// OnAddOrUpdate must be called by a handler of the store's informer for each add and update.
	OnAddOrUpdate(obj runtime.Object)
	// OnDelete must be called by a handler of the store's informer for each deletion. It drops the
	// written state of the deleted object. From then on, states older than the deletion are
	// ignored.
	OnDelete(obj runtime.Object)
}

// ResourceVersionComparator compares the versions of two objects.
type ResourceVersionComparator interface {
	// CompareResourceVersion returns -1 if lhs is older than rhs, 1 if lhs is newer, and 0
	// otherwise.
	CompareResourceVersion(lhs, rhs runtime.Object) int
}

// MutationCacheOptions are the options of a [MutationCache].
type MutationCacheOptions struct {
	// Indexer is used by ByIndex. If it is nil, ByIndex returns an error.
	Indexer Indexer
	// TTL is how long a written object replaces an older object of the store. Defaults to 5
	// minutes.
	TTL time.Duration
	// IncludeAdds makes the methods also return written objects that the store lacks, for at most
	// TTL. Such an object may have been deleted since the write.
	IncludeAdds bool
	// MaxCacheSize is the maximal number of written objects. Beyond it, the least recently used
	// written objects are dropped. Defaults to 100.
	MaxCacheSize int
}

// NewIntegerResourceVersionMutationCache is NewIntegerResourceVersionMutationCacheWithOptions with
// a MaxCacheSize of 100.
func NewIntegerResourceVersionMutationCache(logger klog.Logger, backingCache Store, indexer Indexer, ttl time.Duration, includeAdds bool) MutationCache {
	return NewIntegerResourceVersionMutationCacheWithOptions(logger, backingCache, MutationCacheOptions{Indexer: indexer, TTL: ttl, IncludeAdds: includeAdds})
}

// NewIntegerResourceVersionMutationCacheWithOptions returns an empty MutationCache. The resource
// versions of the objects must be integers that grow with each write, as in Kubernetes.
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

	mu    sync.Mutex          // held by each method for its whole call; guards following
	known *lru.LRUExpireCache // key to mutation
}

// compare implements a [ResourceVersionComparator] for integer versions. An object without a
// version, as fakes have, counts as version 0. Versions that are not integers compare as equal and
// are logged.
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

// mutation is the cache's entry for a key: a written object, or the last state of a deleted object.
type mutation struct {
	item    interface{}
	obj     runtime.Object // nil if item is not a runtime.Object
	deleted bool
}

func (c *mutationCache) get(key string) (mutation, bool) {
	item, ok := c.known.Get(key)
	if !ok {
		return mutation{}, false
	}
	return item.(mutation), true
}

// newer returns the newer of two states: the stored object and the cache's entry for the key. It
// returns nil if the object was deleted after the stored state. It drops an entry that is not
// newer.
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
	if known.deleted {
		return nil
	}
	return known.item
}

// isOld reports whether the store has the same state as the entry known, or a newer state.
// client-go does not check this. So its ByIndex returns objects under values that they no longer
// have.
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
	if !exists || known.deleted {
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

// added returns the written objects that ByIndex must add to its results. These objects have the
// index value, their keys are not in the set indexed, and their states are newer than the store's.
func (c *mutationCache) added(indexName, indexKey string, indexed sets.Set[string]) (list []interface{}) {
	values := c.indexer.GetIndexers()[indexName]
	for _, k := range c.known.Keys() {
		key := k.(string)
		known, ok := c.get(key)
		if !ok || known.deleted || indexed.Has(key) || c.isOld(key, known) {
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
			if order := c.compare(obj, known.obj); order < 0 || known.deleted && (order == 0 || uidOf(known.obj) == uidOf(obj)) {
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
		return // the cache's entry is for a later object with the same key
	}
	c.known.Add(key, mutation{item: obj, obj: obj, deleted: true}, c.ttl)
}

func (c *mutationCache) key(obj interface{}) (string, bool) {
	key, err := DeletionHandlingMetaNamespaceKeyFunc(obj)
	if err != nil {
		utilruntime.HandleErrorWithLogger(c.logger, err, "An object has no key, the mutation cache leaves it out")
	}
	return key, err == nil
}

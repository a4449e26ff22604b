package cache

import (
	"errors"
	"fmt"
)

// Store holds objects by key. It is safe for concurrent use. Objects are shared with all readers
// and must not be modified.
type Store interface {
	// Add does the same as Update.
	Add(obj interface{}) error
	// Update stores an object. It replaces the object with the same key.
	Update(obj interface{}) error
	// Delete removes the object with the key of obj. Deleting an absent object is not an error.
	Delete(obj interface{}) error
	// List returns all objects, in no order. The caller owns the slice.
	List() []interface{}
	// ListKeys returns all keys, in no order.
	ListKeys() []string
	// LastStoreSyncResourceVersion returns the version of the last write.
	LastStoreSyncResourceVersion() string
	// Bookmark sets the version that LastStoreSyncResourceVersion returns.
	Bookmark(rv string)
	// Get returns the object with the key of obj.
	Get(obj interface{}) (item interface{}, exists bool, err error)
	// GetByKey returns the object with this key. In stores of this package, its error is always
	// nil.
	GetByKey(key string) (item interface{}, exists bool, err error)
	// Replace replaces all objects in one step. The store owns the slice from then on.
	Replace([]interface{}, string) error
	// Resync does nothing in a store.
	Resync() error
}

// TransactionType is the kind of a [Transaction].
type TransactionType string

const (
	TransactionTypeAdd    TransactionType = "Add"
	TransactionTypeUpdate TransactionType = "Update"
	TransactionTypeDelete TransactionType = "Delete"
)

// Transaction is one change. A TransactionStore makes several changes in one step.
type Transaction struct {
	Object interface{}
	Type   TransactionType
}

// TransactionStore is a Store that makes several changes in one step.
type TransactionStore interface {
	// Transaction returns nil, or an error with the failed changes. All other changes are made.
	Transaction(txns ...Transaction) *TransactionError
}

// TransactionError lists which changes were made and why the others failed.
type TransactionError struct {
	SuccessfulIndices []int
	TotalTransactions int
	Errors            []error
}

// Error has the number of failures and their reasons.
func (t *TransactionError) Error() string {
	return fmt.Sprintf("failed to execute (%d/%d) transactions failed due to: %v",
		t.TotalTransactions-len(t.SuccessfulIndices), t.TotalTransactions, t.Errors)
}

// StoreOption is an option of NewStore and NewIndexer.
type StoreOption = func(*cache)

// WithTransformer makes Add, Update and Replace store the result of transformer, and return its
// errors.
func WithTransformer(transformer TransformFunc) StoreOption {
	return func(c *cache) { c.transformer = transformer }
}

// WithStoreMetrics makes the store maintain the metric of its version, if the identity is reserved
// (see [InformerName.WithResource]).
func WithStoreMetrics(identifier InformerNameAndResource, metrics InformerMetricsProvider) StoreOption {
	return func(c *cache) {
		c.storeOptions = append(c.storeOptions, WithThreadSafeStoreMetrics(identifier, metrics))
	}
}

// NewStore returns an empty store without indexes.
func NewStore(keyFunc KeyFunc, opts ...StoreOption) Store {
	return newCache(keyFunc, Indexers{}, opts)
}

// NewIndexer returns an empty store with indexes. The store owns the map from then on.
func NewIndexer(keyFunc KeyFunc, indexers Indexers, opts ...StoreOption) Indexer {
	return newCache(keyFunc, indexers, opts)
}

// cache is a ThreadSafeStore behind a key function.
type cache struct {
	ThreadSafeStore
	keyFunc      KeyFunc
	transformer  TransformFunc
	storeOptions []ThreadSafeStoreOption
}

var _ TransactionStore = &cache{}

func newCache(keyFunc KeyFunc, indexers Indexers, opts []StoreOption) *cache {
	c := &cache{keyFunc: keyFunc}
	for _, opt := range opts {
		opt(c)
	}
	c.ThreadSafeStore = NewThreadSafeStore(indexers, Indices{}, c.storeOptions...)
	return c
}

// prepare returns the key of an object, and the transformed object. It computes the key before the
// transformation, because the transformed object may have no key.
func (c *cache) prepare(obj interface{}) (string, interface{}, error) {
	key, err := c.keyFunc(obj)
	if err != nil {
		return "", nil, KeyError{Obj: obj, Err: err}
	}
	if c.transformer != nil {
		if obj, err = c.transformer(obj); err != nil {
			return "", nil, fmt.Errorf("transforming: %w", err)
		}
	}
	return key, obj, nil
}

func (c *cache) Add(obj interface{}) error {
	key, obj, err := c.prepare(obj)
	if err != nil {
		return err
	}
	c.ThreadSafeStore.Add(key, obj)
	return nil
}

func (c *cache) Update(obj interface{}) error {
	key, obj, err := c.prepare(obj)
	if err != nil {
		return err
	}
	c.ThreadSafeStore.Update(key, obj)
	return nil
}

func (c *cache) Delete(obj interface{}) error {
	key, err := c.keyFunc(obj)
	if err != nil {
		return KeyError{Obj: obj, Err: err}
	}
	c.DeleteWithObject(key, obj)
	return nil
}

func (c *cache) Get(obj interface{}) (interface{}, bool, error) {
	key, err := c.keyFunc(obj)
	if err != nil {
		return nil, false, KeyError{Obj: obj, Err: err}
	}
	return c.GetByKey(key)
}

func (c *cache) GetByKey(key string) (interface{}, bool, error) {
	item, exists := c.ThreadSafeStore.Get(key)
	return item, exists, nil
}

func (c *cache) Replace(list []interface{}, resourceVersion string) error {
	items := make(map[string]interface{}, len(list))
	for _, obj := range list {
		key, obj, err := c.prepare(obj)
		if err != nil {
			return err
		}
		items[key] = obj
	}
	c.ThreadSafeStore.Replace(items, resourceVersion)
	return nil
}

func (c *cache) Transaction(txns ...Transaction) *TransactionError {
	store, ok := c.ThreadSafeStore.(ThreadSafeStoreWithTransaction)
	if !ok {
		return &TransactionError{TotalTransactions: len(txns), Errors: []error{errors.New("transaction not supported")}}
	}
	changes := make([]ThreadSafeStoreTransaction, 0, len(txns))
	done := make([]int, 0, len(txns))
	var errs []error
	for i, txn := range txns {
		key, err := c.keyFunc(txn.Object)
		if err != nil {
			errs = append(errs, KeyError{Obj: txn.Object, Err: err})
			continue
		}
		changes = append(changes, ThreadSafeStoreTransaction{Transaction: txn, Key: key})
		done = append(done, i)
	}
	store.Transaction(changes...)
	if errs == nil {
		return nil
	}
	return &TransactionError{SuccessfulIndices: done, TotalTransactions: len(txns), Errors: errs}
}

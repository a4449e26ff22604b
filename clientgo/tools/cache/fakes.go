package cache

import (
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/utils/clock"
)

// NewFakeExpirationStore returns an ExpirationCache with a clock, for tests. If deletedKeys is not
// nil, it receives the key of each object that is removed because it has expired.
func NewFakeExpirationStore(keyFunc KeyFunc, deletedKeys chan<- string, expirationPolicy ExpirationPolicy, cacheClock clock.Clock) Store {
	return &ExpirationCache{
		store: NewThreadSafeStore(Indexers{}, Indices{}), keyFunc: keyFunc, clock: cacheClock, policy: expirationPolicy, expired: deletedKeys,
	}
}

// FakeExpirationPolicy treats every object as expired, unless its key is in NeverExpire.
type FakeExpirationPolicy struct {
	// NeverExpire has the keys of objects that never expire.
	NeverExpire sets.Set[string]
	// RetrieveKeyFunc returns the key of a *TimestampedEntry.
	RetrieveKeyFunc KeyFunc
}

// IsExpired reports whether the key of obj is not in NeverExpire.
func (p *FakeExpirationPolicy) IsExpired(obj *TimestampedEntry) bool {
	key, _ := p.RetrieveKeyFunc(obj)
	return !p.NeverExpire.Has(key)
}

// FakeCustomStore is a [Store] made of functions. A method whose function is nil does nothing and
// returns zero values.
type FakeCustomStore struct {
	AddFunc                          func(obj interface{}) error
	UpdateFunc                       func(obj interface{}) error
	DeleteFunc                       func(obj interface{}) error
	ListFunc                         func() []interface{}
	ListKeysFunc                     func() []string
	GetFunc                          func(obj interface{}) (item interface{}, exists bool, err error)
	GetByKeyFunc                     func(key string) (item interface{}, exists bool, err error)
	ReplaceFunc                      func(list []interface{}, resourceVersion string) error
	ResyncFunc                       func() error
	BookmarkFunc                     func(rv string)
	LastStoreSyncResourceVersionFunc func() string
}

var _ Store = &FakeCustomStore{}

// Add calls AddFunc.
func (f *FakeCustomStore) Add(obj interface{}) error { return callWith(f.AddFunc, obj) }

// Update calls UpdateFunc.
func (f *FakeCustomStore) Update(obj interface{}) error { return callWith(f.UpdateFunc, obj) }

// Delete calls DeleteFunc.
func (f *FakeCustomStore) Delete(obj interface{}) error { return callWith(f.DeleteFunc, obj) }

func callWith(fn func(interface{}) error, obj interface{}) error {
	if fn == nil {
		return nil
	}
	return fn(obj)
}

func call[T any](fn func() T) (zero T) {
	if fn == nil {
		return zero
	}
	return fn()
}

// List calls ListFunc.
func (f *FakeCustomStore) List() []interface{} { return call(f.ListFunc) }

// ListKeys calls ListKeysFunc.
func (f *FakeCustomStore) ListKeys() []string { return call(f.ListKeysFunc) }

// Get calls GetFunc.
func (f *FakeCustomStore) Get(obj interface{}) (item interface{}, exists bool, err error) {
	if f.GetFunc == nil {
		return nil, false, nil
	}
	return f.GetFunc(obj)
}

// GetByKey calls GetByKeyFunc.
func (f *FakeCustomStore) GetByKey(key string) (item interface{}, exists bool, err error) {
	if f.GetByKeyFunc == nil {
		return nil, false, nil
	}
	return f.GetByKeyFunc(key)
}

// Replace calls ReplaceFunc.
func (f *FakeCustomStore) Replace(list []interface{}, resourceVersion string) error {
	if f.ReplaceFunc == nil {
		return nil
	}
	return f.ReplaceFunc(list, resourceVersion)
}

// Resync calls ResyncFunc.
func (f *FakeCustomStore) Resync() error { return call(f.ResyncFunc) }

// Bookmark calls BookmarkFunc.
func (f *FakeCustomStore) Bookmark(rv string) {
	if f.BookmarkFunc != nil {
		f.BookmarkFunc(rv)
	}
}

// LastStoreSyncResourceVersion calls LastStoreSyncResourceVersionFunc.
func (f *FakeCustomStore) LastStoreSyncResourceVersion() string {
	return call(f.LastStoreSyncResourceVersionFunc)
}

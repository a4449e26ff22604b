package cache

import (
	"sync"
	"time"

	"k8s.io/utils/clock"
)

// ExpirationCache is a [Store] whose objects expire. A read removes the objects that have expired
// according to the policy, and does not return them. Only ListKeys returns the keys of expired
// objects that no read has removed yet.
//
// Reads of an ExpirationCache wait for each other, because a read may remove objects. Reads of the
// underlying ThreadSafeStore don't block.
type ExpirationCache struct {
	store   ThreadSafeStore
	keyFunc KeyFunc
	clock   clock.Clock
	policy  ExpirationPolicy
	expired chan<- string // receives the key of each expired object; nil except in tests

	mu sync.Mutex // held from the check of an object until its removal, and during each write
}

var _ Store = &ExpirationCache{}

// TimestampedEntry is an object with the time at which it was stored.
type TimestampedEntry struct {
	Obj       interface{}
	Timestamp time.Time
	key       string
}

// ExpirationPolicy decides which objects have expired.
type ExpirationPolicy interface {
	IsExpired(obj *TimestampedEntry) bool
}

// TTLPolicy expires objects that are older than a time to live.
type TTLPolicy struct {
	// TTL is the maximal age of an object. 0 or less means that objects never expire.
	TTL time.Duration
	// Clock measures the age.
	Clock clock.Clock
}

// IsExpired reports whether the object is older than TTL. An object of exactly that age is not
// expired.
func (p *TTLPolicy) IsExpired(obj *TimestampedEntry) bool {
	return p.TTL > 0 && p.Clock.Since(obj.Timestamp) > p.TTL
}

// NewTTLStore returns an empty store whose objects expire ttl after they were last stored. With a
// ttl of 0 or less they never expire.
func NewTTLStore(keyFunc KeyFunc, ttl time.Duration) Store {
	return NewExpirationStore(keyFunc, &TTLPolicy{TTL: ttl, Clock: clock.RealClock{}})
}

// NewExpirationStore returns an empty store with this policy.
func NewExpirationStore(keyFunc KeyFunc, expirationPolicy ExpirationPolicy) Store {
	return NewFakeExpirationStore(keyFunc, nil, expirationPolicy, clock.RealClock{})
}

// removeIfExpired removes the entry if it has expired, and reports whether it has expired. The
// caller holds mu.
func (c *ExpirationCache) removeIfExpired(e *TimestampedEntry) bool {
	if !c.policy.IsExpired(e) {
		return false
	}
	c.store.Delete(e.key)
	if c.expired != nil {
		c.expired <- e.key
	}
	return true
}

// GetByKey returns the object if it has not expired. The error is always nil.
func (c *ExpirationCache) GetByKey(key string) (interface{}, bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	item, exists := c.store.Get(key)
	if !exists {
		return nil, false, nil
	}
	entry := item.(*TimestampedEntry)
	if c.removeIfExpired(entry) {
		return nil, false, nil
	}
	return entry.Obj, true, nil
}

// Get calls GetByKey with the key of obj.
func (c *ExpirationCache) Get(obj interface{}) (interface{}, bool, error) {
	key, err := c.keyFunc(obj)
	if err != nil {
		return nil, false, KeyError{Obj: obj, Err: err}
	}
	return c.GetByKey(key)
}

// List returns the objects that have not expired.
func (c *ExpirationCache) List() []interface{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	items := c.store.List()
	list := make([]interface{}, 0, len(items))
	for _, item := range items {
		if entry := item.(*TimestampedEntry); !c.removeIfExpired(entry) {
			list = append(list, entry.Obj)
		}
	}
	return list
}

// ListKeys returns the keys of all objects, including expired objects.
func (c *ExpirationCache) ListKeys() []string { return c.store.ListKeys() }

// Add stores an object. Its age counts from now.
func (c *ExpirationCache) Add(obj interface{}) error {
	key, err := c.keyFunc(obj)
	if err != nil {
		return KeyError{Obj: obj, Err: err}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.store.Add(key, &TimestampedEntry{Obj: obj, Timestamp: c.clock.Now(), key: key})
	return nil
}

// Update does the same as Add.
func (c *ExpirationCache) Update(obj interface{}) error { return c.Add(obj) }

// Delete removes the object with the key of obj. Deleting an absent object is not an error.
func (c *ExpirationCache) Delete(obj interface{}) error {
	key, err := c.keyFunc(obj)
	if err != nil {
		return KeyError{Obj: obj, Err: err}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.store.DeleteWithObject(key, obj)
	return nil
}

// Replace replaces all objects. Their ages count from now.
func (c *ExpirationCache) Replace(list []interface{}, resourceVersion string) error {
	now := c.clock.Now()
	items := make(map[string]interface{}, len(list))
	for _, obj := range list {
		key, err := c.keyFunc(obj)
		if err != nil {
			return KeyError{Obj: obj, Err: err}
		}
		items[key] = &TimestampedEntry{Obj: obj, Timestamp: now, key: key}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.store.Replace(items, resourceVersion)
	return nil
}

// Resync does nothing.
func (c *ExpirationCache) Resync() error { return c.store.Resync() }

// Bookmark sets the version that LastStoreSyncResourceVersion returns.
func (c *ExpirationCache) Bookmark(rv string) { c.store.Bookmark(rv) }

// LastStoreSyncResourceVersion returns the version of the last Replace, Bookmark or Delete. Add and
// Update don't set it, because entries wrap the stored objects and hide their versions.
func (c *ExpirationCache) LastStoreSyncResourceVersion() string {
	return c.store.LastStoreSyncResourceVersion()
}

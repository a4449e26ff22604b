package record

import (
	"sync"

	"golang.org/x/time/rate"
	v1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
	"k8s.io/utils/lru"
)

// EventSpamKeyFunc returns the key of an event. Events with the same key share a burst.
type EventSpamKeyFunc func(event *v1.Event) string

// EventSourceObjectSpamFilter limits the rate of events. It is safe for concurrent use.
type EventSourceObjectSpamFilter struct {
	burst int
	qps   float32
	clock clock.PassiveClock
	key   EventSpamKeyFunc

	mu      sync.Mutex // guards following
	buckets *lru.Cache // values are *rate.Limiter
}

// NewEventSourceObjectSpamFilter returns a filter. For each key, it passes burst events at once and
// then qps events per second. It remembers the last lruCacheSize keys.
func NewEventSourceObjectSpamFilter(lruCacheSize, burst int, qps float32, clock clock.PassiveClock, spamKeyFunc EventSpamKeyFunc) *EventSourceObjectSpamFilter {
	return &EventSourceObjectSpamFilter{burst: burst, qps: qps, clock: clock, key: spamKeyFunc, buckets: lru.New(lruCacheSize)}
}

// Filter reports whether the event exceeds the limit.
func (f *EventSourceObjectSpamFilter) Filter(event *v1.Event) bool {
	key := f.key(event)
	f.mu.Lock()
	defer f.mu.Unlock()
	found, ok := f.buckets.Get(key)
	if !ok {
		found = rate.NewLimiter(rate.Limit(f.qps), f.burst)
		f.buckets.Add(key, found)
	}
	return !found.(*rate.Limiter).AllowN(f.clock.Now(), 1)
}

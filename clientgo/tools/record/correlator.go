package record

import (
	"cmp"
	"encoding/json"
	"errors"
	"sync"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"k8s.io/utils/lru"
)

// CorrelatorOptions are the options of an EventCorrelator. The zero value works. No number may be
// negative.
type CorrelatorOptions struct {
	// LRUCacheSize is the size of each of three caches: the events, the groups of similar events,
	// and the limits per source and object. Defaults to 4096.
	LRUCacheSize int
	// BurstSize is the maximal number of events in a burst, per source and object. Defaults to 25.
	BurstSize int
	// QPS is the number of events per second after a burst. Defaults to one in five minutes.
	QPS float32
	// KeyFunc groups events. Defaults to EventAggregatorByReasonFunc.
	KeyFunc EventAggregatorKeyFunc
	// MessageFunc returns the message of an event that stands for a group. Defaults to
	// EventAggregatorByReasonMessageFunc.
	MessageFunc EventAggregatorMessageFunc
	// MaxEvents is the number of different events at which the events of a group are combined into
	// one. Defaults to 10.
	MaxEvents int
	// MaxIntervalInSeconds is how long a group is remembered after its last event. Defaults to 600.
	MaxIntervalInSeconds int
	// Clock is for tests. Defaults to the real clock.
	Clock clock.PassiveClock
	// SpamKeyFunc returns the key of an event. Events with the same key share a burst. By default
	// the key has the event's source, type and object.
	SpamKeyFunc EventSpamKeyFunc
}

func (o CorrelatorOptions) withDefaults() CorrelatorOptions {
	o.LRUCacheSize = cmp.Or(o.LRUCacheSize, 4096)
	o.BurstSize = cmp.Or(o.BurstSize, 25)
	o.QPS = cmp.Or(o.QPS, 1./300)
	o.MaxEvents = cmp.Or(o.MaxEvents, 10)
	o.MaxIntervalInSeconds = cmp.Or(o.MaxIntervalInSeconds, 600)
	if o.KeyFunc == nil {
		o.KeyFunc = EventAggregatorByReasonFunc
	}
	if o.MessageFunc == nil {
		o.MessageFunc = EventAggregatorByReasonMessageFunc
	}
	if o.SpamKeyFunc == nil {
		o.SpamKeyFunc = spamKey
	}
	if o.Clock == nil {
		o.Clock = clock.RealClock{}
	}
	return o
}

// EventFilterFunc reports whether an event must be dropped.
type EventFilterFunc func(event *v1.Event) bool

// EventCorrelator reduces the events that are written to the server. It counts repeated events,
// combines similar events, and drops events over a rate limit. It is safe for concurrent use.
type EventCorrelator struct {
	filter     EventFilterFunc
	aggregator *EventAggregator

	mu         sync.Mutex // guards following
	lastEvents *lru.Cache // values are lastEvent
}

// lastEvent is the last known state of an event on the server.
type lastEvent struct {
	count         int32
	first         metav1.Time
	name, version string
}

// EventCorrelateResult is the decision about an event.
type EventCorrelateResult struct {
	// Event is the event to write. It is nil if Skip is true.
	Event *v1.Event
	// Patch is a strategic merge patch for the event on the server. It is nil if the server does
	// not have the event yet.
	Patch []byte
	// Skip means that the event must not be written.
	Skip bool
}

// NewEventCorrelator returns a correlator with the defaults of CorrelatorOptions.
func NewEventCorrelator(clock clock.PassiveClock) *EventCorrelator {
	return NewEventCorrelatorWithOptions(CorrelatorOptions{Clock: clock})
}

// NewEventCorrelatorWithOptions returns a correlator.
func NewEventCorrelatorWithOptions(options CorrelatorOptions) *EventCorrelator {
	o := options.withDefaults()
	return &EventCorrelator{
		filter:     NewEventSourceObjectSpamFilter(o.LRUCacheSize, o.BurstSize, o.QPS, o.Clock, o.SpamKeyFunc).Filter,
		aggregator: NewEventAggregator(o.LRUCacheSize, o.KeyFunc, o.MessageFunc, o.MaxEvents, o.MaxIntervalInSeconds, o.Clock),
		lastEvents: lru.New(o.LRUCacheSize),
	}
}

// EventCorrelate decides what to write for an event. It may modify the event.
func (c *EventCorrelator) EventCorrelate(newEvent *v1.Event) (*EventCorrelateResult, error) {
	if newEvent == nil {
		return nil, errors.New("no event to compare with others")
	}
	event, patch, err := c.count(c.aggregator.EventAggregate(newEvent))
	if c.filter(event) {
		return &EventCorrelateResult{Skip: true}, nil
	}
	return &EventCorrelateResult{Event: event, Patch: patch}, err
}

// UpdateState records the event that the server returned.
func (c *EventCorrelator) UpdateState(event *v1.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.storeLocked(sameEvent(event), event)
}

func (c *EventCorrelator) storeLocked(key string, event *v1.Event) {
	c.lastEvents.Add(key, lastEvent{event.Count, event.FirstTimestamp, event.Name, event.ResourceVersion})
}

// count returns the event with its count increased, and the patch for the server's event.
func (c *EventCorrelator) count(event *v1.Event, key string) (*v1.Event, []byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	event = event.DeepCopy()
	var patch []byte
	var err error
	last := lastEvent{}
	if found, ok := c.lastEvents.Get(key); ok {
		last = found.(lastEvent)
	}
	if last.count > 0 {
		event.Count = last.count + 1
		event.FirstTimestamp, event.Name, event.ResourceVersion = last.first, last.name, last.version
		patch, err = json.Marshal(struct {
			Count   int32       `json:"count"`
			Last    metav1.Time `json:"lastTimestamp"`
			Message string      `json:"message,omitempty"`
		}{event.Count, event.LastTimestamp, event.Message})
	}
	c.storeLocked(key, event)
	return event, patch, err
}

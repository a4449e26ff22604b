package record

import (
	"strings"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/record/util"
	"k8s.io/utils/clock"
	"k8s.io/utils/lru"
)

// EventAggregatorKeyFunc groups events. Events with the same aggregateKey are similar. If their
// localKeys are equal too, they are the same event.
type EventAggregatorKeyFunc func(event *v1.Event) (aggregateKey string, localKey string)

// EventAggregatorMessageFunc returns the message of an event that stands for similar events.
type EventAggregatorMessageFunc func(event *v1.Event) string

// EventAggregatorByReasonFunc groups events that differ only in their message.
func EventAggregatorByReasonFunc(event *v1.Event) (string, string) {
	return sourceAndObject(event) + event.Type + event.Reason + event.ReportingController + event.ReportingInstance, event.Message
}

// EventAggregatorByReasonMessageFunc adds a prefix to the message, which shows that the event
// stands for similar events.
func EventAggregatorByReasonMessageFunc(event *v1.Event) string {
	return "(combined from similar events): " + event.Message
}

// sourceAndObject returns the key for a source and an object: all events of the source about the
// object have this key.
func sourceAndObject(event *v1.Event) string {
	about := &event.InvolvedObject
	return strings.Join([]string{
		event.Source.Component, event.Source.Host,
		about.Kind, about.Namespace, about.Name, string(about.UID), about.APIVersion,
	}, "")
}

// sameEvent returns a key that is the same for events that differ only in their times and counts.
func sameEvent(event *v1.Event) string {
	about := &event.InvolvedObject
	return strings.Join([]string{
		event.Source.Component, event.Source.Host,
		about.Kind, about.Namespace, about.Name, about.FieldPath, string(about.UID), about.APIVersion,
		event.Type, event.Reason, event.Message,
	}, "")
}

// EventAggregator combines similar events into one event.
type EventAggregator struct {
	sync.RWMutex // guards following

	groups *lru.Cache // values are *group, keys are aggregateKeys

	key       EventAggregatorKeyFunc
	message   EventAggregatorMessageFunc
	maxEvents int
	interval  time.Duration
	clock     clock.PassiveClock
}

// group is the state of a group of similar events.
type group struct {
	locals sets.Set[string] // the localKeys of the events
	last   time.Time
}

// spamKey returns the key for the source, the object and the type of an event.
func spamKey(event *v1.Event) string { return sourceAndObject(event) + event.Type }

// NewEventAggregator returns an aggregator that remembers lruCacheSize groups. It combines a group
// once the group has maxEvents different events; a negative maxEvents means never. It drops a group
// after maxIntervalInSeconds without an event.
func NewEventAggregator(lruCacheSize int, keyFunc EventAggregatorKeyFunc, messageFunc EventAggregatorMessageFunc,
	maxEvents int, maxIntervalInSeconds int, clock clock.PassiveClock) *EventAggregator {
	return &EventAggregator{
		groups: lru.New(lruCacheSize), key: keyFunc, message: messageFunc,
		maxEvents: maxEvents, interval: time.Duration(maxIntervalInSeconds) * time.Second, clock: clock,
	}
}

// EventAggregate returns the event to write: the event itself, or a new event that stands for its
// group. It also returns the key under which the event to write is counted.
func (e *EventAggregator) EventAggregate(newEvent *v1.Event) (*v1.Event, string) {
	aggregateKey, localKey := e.key(newEvent)
	e.Lock()
	defer e.Unlock()
	now := e.clock.Now()
	g := &group{locals: sets.New[string]()}
	if found, ok := e.groups.Get(aggregateKey); ok && now.Sub(found.(*group).last) <= e.interval {
		g = found.(*group)
	}
	g.locals.Insert(localKey)
	g.last = now
	e.groups.Add(aggregateKey, g)
	if e.maxEvents < 0 || g.locals.Len() < e.maxEvents {
		return newEvent, sameEvent(newEvent)
	}
	g.locals.PopAny() // more than e.maxEvents keys are not needed
	// Leave out annotations and other details of this event: they don't apply to the group.
	return &v1.Event{
		ObjectMeta:     metav1.ObjectMeta{Name: util.GenerateEventName(newEvent.InvolvedObject.Name, now.UnixNano()), Namespace: newEvent.Namespace},
		InvolvedObject: newEvent.InvolvedObject, Source: newEvent.Source, Type: newEvent.Type, Reason: newEvent.Reason, Message: e.message(newEvent),
		Count: 1, FirstTimestamp: metav1.NewTime(now), LastTimestamp: metav1.NewTime(now),
	}, aggregateKey
}

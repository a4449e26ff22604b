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

// EventAggregatorKeyFunc groups events: those with the same aggregateKey are similar, and those
// with the same localKey too are the same.
type EventAggregatorKeyFunc func(event *v1.Event) (aggregateKey string, localKey string)

// EventAggregatorMessageFunc makes the message of an event that stands for those similar to it.
type EventAggregatorMessageFunc func(event *v1.Event) string

// EventAggregatorByReasonFunc takes events for similar that differ in their message alone.
func EventAggregatorByReasonFunc(event *v1.Event) (string, string) {
	return sourceAndObject(event) + event.Type + event.Reason + event.ReportingController + event.ReportingInstance, event.Message
}

// EventAggregatorByReasonMessageFunc says that the message is one of many.
func EventAggregatorByReasonMessageFunc(event *v1.Event) string {
	return "(combined from similar events): " + event.Message
}

// sourceAndObject is the same for events of a source about an object.
func sourceAndObject(event *v1.Event) string {
	about := &event.InvolvedObject
	return strings.Join([]string{
		event.Source.Component, event.Source.Host,
		about.Kind, about.Namespace, about.Name, string(about.UID), about.APIVersion,
	}, "")
}

// sameEvent is the same for events that differ in their times and counts alone.
func sameEvent(event *v1.Event) string {
	about := &event.InvolvedObject
	return strings.Join([]string{
		event.Source.Component, event.Source.Host,
		about.Kind, about.Namespace, about.Name, about.FieldPath, string(about.UID), about.APIVersion,
		event.Type, event.Reason, event.Message,
	}, "")
}

// EventAggregator makes one event of many similar ones.
type EventAggregator struct {
	sync.RWMutex // guards following

	groups *lru.Cache // of *group, by aggregateKey

	key      EventAggregatorKeyFunc
	message  EventAggregatorMessageFunc
	most     int
	interval time.Duration
	clock    clock.PassiveClock
}

// group is what is known of similar events.
type group struct {
	locals sets.Set[string] // their localKeys
	last   time.Time
}

// spamKey is the same for events of a source and a type about an object.
func spamKey(event *v1.Event) string { return sourceAndObject(event) + event.Type }

// NewEventAggregator returns an aggregator that remembers lruCacheSize groups, makes one event of a
// group when it has maxEvents different ones, below zero never, and forgets a group that has had
// none for maxIntervalInSeconds.
func NewEventAggregator(lruCacheSize int, keyFunc EventAggregatorKeyFunc, messageFunc EventAggregatorMessageFunc,
	maxEvents int, maxIntervalInSeconds int, clock clock.PassiveClock) *EventAggregator {
	return &EventAggregator{
		groups: lru.New(lruCacheSize), key: keyFunc, message: messageFunc,
		most: maxEvents, interval: time.Duration(maxIntervalInSeconds) * time.Second, clock: clock,
	}
}

// EventAggregate returns the event, or a new one that stands for those similar to it, and the key
// by which it is counted.
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
	if e.most < 0 || g.locals.Len() < e.most {
		return newEvent, sameEvent(newEvent)
	}
	g.locals.PopAny() // it has no more than it needs
	// Annotations, and whatever else is this one event's alone, are not those of the group.
	return &v1.Event{
		ObjectMeta:     metav1.ObjectMeta{Name: util.GenerateEventName(newEvent.InvolvedObject.Name, now.UnixNano()), Namespace: newEvent.Namespace},
		InvolvedObject: newEvent.InvolvedObject, Source: newEvent.Source, Type: newEvent.Type, Reason: newEvent.Reason, Message: e.message(newEvent),
		Count: 1, FirstTimestamp: metav1.NewTime(now), LastTimestamp: metav1.NewTime(now),
	}, aggregateKey
}

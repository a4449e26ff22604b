package events

import (
	"context"
	"time"

	v1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	refreshTime = 30 * time.Minute
	finishTime  = 6 * time.Minute
)

// key identifies a series: all events of a series have the same key.
type key struct {
	eventType, action, reason, controller, instance string
	regarding, related                              v1.ObjectReference
}

func keyOf(event *eventsv1.Event) key {
	k := key{
		eventType: event.Type, action: event.Action, reason: event.Reason,
		controller: event.ReportingController, instance: event.ReportingInstance,
		regarding: event.Regarding,
	}
	if event.Related != nil {
		k.related = *event.Related
	}
	return k
}

// series is an event with its later repetitions. The broadcaster's lock guards it.
type series struct {
	event *eventsv1.Event
	// written is closed when the last write has ended. The next write waits for it, so that a count
	// is written after its event.
	written chan struct{}
}

// last returns the time of the last event of the series.
func (s *series) last() time.Time {
	if s.event.Series == nil {
		return s.event.EventTime.Time
	}
	return s.event.Series.LastObservedTime.Time
}

// addToSeries adds the event to its series. At the first and second event of a series, it writes
// the series to the server.
func (b *broadcaster) addToSeries(ctx context.Context, w *writer, event *eventsv1.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	k := keyOf(event)
	s := b.seriesByKey[k]
	switch {
	case s == nil:
		s = &series{event: event}
		b.seriesByKey[k] = s
	case s.event.Series != nil:
		s.event.Series.Count++
		s.event.Series.LastObservedTime = metav1.NowMicro()
		return
	default:
		s.event.Series = &eventsv1.EventSeries{Count: 2, LastObservedTime: metav1.NowMicro()}
	}
	b.writeLocked(ctx, w, s)
}

// writeLocked starts to write the current event of the series, after the end of a write in
// progress.
func (b *broadcaster) writeLocked(ctx context.Context, w *writer, s *series) {
	event, before := s.event.DeepCopy(), s.written
	s.written = make(chan struct{})
	w.start(ctx, event, before, s.written)
}

// refresh writes the count of each series.
func (b *broadcaster) refresh(ctx context.Context, w *writer) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range b.seriesByKey {
		if s.event.Series != nil {
			b.writeLocked(ctx, w, s)
		}
	}
}

// finish ends each series that has had no recent event. The next event of the same kind starts a
// new series.
func (b *broadcaster) finish(ctx context.Context, w *writer) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for k, s := range b.seriesByKey {
		if time.Since(s.last()) < finishTime {
			continue
		}
		if s.event.Series != nil {
			b.writeLocked(ctx, w, s)
		}
		delete(b.seriesByKey, k)
	}
}

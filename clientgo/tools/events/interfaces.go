// Package events records events of events.k8s.io about objects.
//
// A recorder passes events to a broadcaster, which passes them to its sink, loggers and watchers. A
// recorder never blocks: if the queue of 1000 events is full, it drops the event and logs a line.
//
// Events that differ only in their notes form a series. The server gets the first event. It then
// gets the count of the series at the second event and every 30 minutes. It gets the last count
// when the series has had no event for six minutes.
package events

import (
	"context"

	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/runtime"
	internalevents "k8s.io/client-go/tools/internal/events"
	"k8s.io/klog/v2"
)

// EventRecorder records events. It does not block.
type EventRecorder = internalevents.EventRecorder

// AnnotatedEventRecorder records events with annotations. The recorders of this package implement
// it.
type AnnotatedEventRecorder = internalevents.AnnotatedEventRecorder

// EventRecorderLogger is an EventRecorder that logs the events that it cannot record.
type EventRecorderLogger = internalevents.EventRecorderLogger

// EventSink writes events to a server. Its errors must be errors of a Kubernetes client.
type EventSink interface {
	Create(ctx context.Context, event *eventsv1.Event) (*eventsv1.Event, error)
	Update(ctx context.Context, event *eventsv1.Event) (*eventsv1.Event, error)
	Patch(ctx context.Context, oldEvent *eventsv1.Event, data []byte) (*eventsv1.Event, error)
}

// EventBroadcaster passes the events of its recorders to sinks, loggers and watchers.
type EventBroadcaster interface {
	// StartRecordingToSink writes events to the sink until stopCh is closed.
	//
	// Deprecated: use StartRecordingToSinkWithContext.
	StartRecordingToSink(stopCh <-chan struct{})

	// StartRecordingToSinkWithContext writes events to the sink until ctx ends. It returns an error
	// after Shutdown.
	StartRecordingToSinkWithContext(ctx context.Context) error

	// NewRecorder returns a recorder. If an object does not have its kind, the scheme must know the
	// object's type. The reporting instance of the events is reportingController and the host name,
	// joined with a hyphen.
	NewRecorder(scheme *runtime.Scheme, reportingController string) EventRecorderLogger

	// StartEventWatcher calls eventHandler with each *eventsv1.Event, which it must not modify. The
	// returned function stops the calls. StartEventWatcher returns an error after Shutdown.
	StartEventWatcher(eventHandler func(event runtime.Object)) (func(), error)

	// StartStructuredLogging logs each event at this level. The returned function stops it.
	//
	// Deprecated: use StartLogging.
	StartStructuredLogging(verbosity klog.Level) func()

	// StartLogging logs each event. The returned function stops it. StartLogging returns an error
	// after Shutdown.
	StartLogging(logger klog.Logger) (func(), error)

	// Shutdown makes the broadcaster drop new events. Sinks, loggers and watchers stop after the
	// pending events.
	Shutdown()
}

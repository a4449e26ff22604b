// Package events records events of events.k8s.io about objects.
//
// A recorder hands events to a broadcaster, which hands them to its sink, to loggers and to watchers. It never
// blocks; what does not fit into a queue of 1000 events is dropped, with a line in the log. Of events that
// differ in their notes alone the server gets the first, and how many there were: with the second, every 30 minutes,
// and when there have been none for six minutes.
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

// AnnotatedEventRecorder records events with annotations. The recorders of this package do.
type AnnotatedEventRecorder = internalevents.AnnotatedEventRecorder

// EventRecorderLogger is an EventRecorder with a logger for what can't be recorded.
type EventRecorderLogger = internalevents.EventRecorderLogger

// EventSink writes events to a server. Errors are those of a client of Kubernetes.
type EventSink interface {
	Create(ctx context.Context, event *eventsv1.Event) (*eventsv1.Event, error)
	Update(ctx context.Context, event *eventsv1.Event) (*eventsv1.Event, error)
	Patch(ctx context.Context, oldEvent *eventsv1.Event, data []byte) (*eventsv1.Event, error)
}

// EventBroadcaster hands the events of its recorders on.
type EventBroadcaster interface {
	// StartRecordingToSink writes events to the sink until stopCh is closed.
	//
	// Deprecated: use StartRecordingToSinkWithContext.
	StartRecordingToSink(stopCh <-chan struct{})

	// StartRecordingToSinkWithContext writes events to the sink until ctx ends. It returns an error if the broadcaster
	// has been shut down.
	StartRecordingToSinkWithContext(ctx context.Context) error

	// NewRecorder returns a recorder. Objects that don't say their kind must be known to the scheme. The reporting
	// instance is the controller's name with that of the host.
	NewRecorder(scheme *runtime.Scheme, reportingController string) EventRecorderLogger

	// StartEventWatcher calls the function with each event, a *eventsv1.Event that it must not change, until the
	// function that it returns is called. It returns an error if the broadcaster has been shut down.
	StartEventWatcher(eventHandler func(event runtime.Object)) (func(), error)

	// StartStructuredLogging logs each event at this level, until the function that it returns is called.
	//
	// Deprecated: use StartLogging.
	StartStructuredLogging(verbosity klog.Level) func()

	// StartLogging logs each event, until the function that it returns is called. It returns an error if the
	// broadcaster has been shut down.
	StartLogging(logger klog.Logger) (func(), error)

	// Shutdown stops the intake, and all that was started when it has had the events that are there.
	Shutdown()
}

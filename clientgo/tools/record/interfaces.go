// Package record records events of the core group about objects.
//
// A recorder passes events to a broadcaster, which passes them to its sinks, loggers and watchers.
// A recorder never blocks: if the queue of 1000 events is full, it drops the event and logs a line.
// Each sink has a correlator, which counts repeated events and combines similar events.
//
// The package does not use github.com/kinform/kinform/events, which records events of events.k8s.io
// and has no correlator.
package record

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/klog/v2"
)

// EventSink writes events to a server. Its errors must be errors of a Kubernetes client.
type EventSink interface {
	Create(event *v1.Event) (*v1.Event, error)
	Update(event *v1.Event) (*v1.Event, error)
	Patch(oldEvent *v1.Event, data []byte) (*v1.Event, error)
}

// EventRecorder records events. It does not block.
type EventRecorder interface {
	// Event records an event about an object or a reference, in the object's namespace. eventtype
	// is Normal or Warning. reason is a short CamelCase word, for programs. message is for people.
	Event(object runtime.Object, eventtype, reason, message string)

	// Eventf is Event with a format.
	Eventf(object runtime.Object, eventtype, reason, messageFmt string, args ...interface{})

	// AnnotatedEventf is Eventf with annotations for the event.
	AnnotatedEventf(object runtime.Object, annotations map[string]string, eventtype, reason, messageFmt string, args ...interface{})
}

// EventRecorderLogger is an EventRecorder that logs the events that it cannot record.
type EventRecorderLogger interface {
	EventRecorder

	// WithLogger returns the recorder with another logger. The call is cheap.
	WithLogger(logger klog.Logger) EventRecorderLogger
}

// EventBroadcaster passes the events of its recorders to sinks, loggers and watchers.
type EventBroadcaster interface {
	// StartEventWatcher calls eventHandler with each event. To stop, call Stop of the result.
	StartEventWatcher(eventHandler func(*v1.Event)) watch.Interface

	// StartRecordingToSink writes events to the sink. To stop, call Stop of the result. If the sink
	// is unreachable, each event is tried twelve times.
	StartRecordingToSink(sink EventSink) watch.Interface

	// StartLogging calls logf with each event. To stop, call Stop of the result.
	StartLogging(logf func(format string, args ...interface{})) watch.Interface

	// StartStructuredLogging logs each event at this level. To stop, call Stop of the result.
	StartStructuredLogging(verbosity klog.Level) watch.Interface

	// NewRecorder returns a recorder for this source. If an object does not have its kind, the
	// scheme must know the object's type.
	NewRecorder(scheme *runtime.Scheme, source v1.EventSource) EventRecorderLogger

	// Shutdown makes the broadcaster drop new events. Sinks, loggers and watchers stop after the
	// pending events. Each pending event is tried once.
	Shutdown()
}

// Package record records events of the core group about objects.
//
// A recorder hands events to a broadcaster, which hands them to all that were started on it: sinks, loggers,
// watchers. It never blocks; what does not fit into a queue of 1000 events is dropped, with a line in the log. Before a
// sink gets an event, a correlator looks for similar ones, so that the server gets a count and not each of them.
//
// github.com/kinform/kinform/events records events of events.k8s.io, which has no correlator, so this package is
// not made of it.
package record

import (
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/klog/v2"
)

// EventSink writes events to a server. Errors are those of a client of Kubernetes.
type EventSink interface {
	Create(event *v1.Event) (*v1.Event, error)
	Update(event *v1.Event) (*v1.Event, error)
	Patch(oldEvent *v1.Event, data []byte) (*v1.Event, error)
}

// EventRecorder records events. It does not block.
type EventRecorder interface {
	// Event records an event about an object, or a reference to one, in the object's namespace. Eventtype is Normal
	// or Warning; reason is a short word in CamelCase, for programs; message is for people.
	Event(object runtime.Object, eventtype, reason, message string)

	// Eventf is Event with a format.
	Eventf(object runtime.Object, eventtype, reason, messageFmt string, args ...interface{})

	// AnnotatedEventf is Eventf for an event that has these annotations.
	AnnotatedEventf(object runtime.Object, annotations map[string]string, eventtype, reason, messageFmt string, args ...interface{})
}

// EventRecorderLogger is an EventRecorder with a logger for what can't be recorded.
type EventRecorderLogger interface {
	EventRecorder

	// WithLogger returns the recorder with another logger. It is cheap.
	WithLogger(logger klog.Logger) EventRecorderLogger
}

// EventBroadcaster hands the events of its recorders on.
type EventBroadcaster interface {
	// StartEventWatcher calls the function with each event, until the result's Stop.
	StartEventWatcher(eventHandler func(*v1.Event)) watch.Interface

	// StartRecordingToSink writes events to the sink, until the result's Stop. A sink that can't be reached is asked
	// twelve times.
	StartRecordingToSink(sink EventSink) watch.Interface

	// StartLogging calls the function with each event, until the result's Stop.
	StartLogging(logf func(format string, args ...interface{})) watch.Interface

	// StartStructuredLogging logs each event at this level, until the result's Stop.
	StartStructuredLogging(verbosity klog.Level) watch.Interface

	// NewRecorder returns a recorder of this source. Objects that don't say their kind must be known to the scheme.
	NewRecorder(scheme *runtime.Scheme, source v1.EventSource) EventRecorderLogger

	// Shutdown stops the intake, and all that was started when it has had the events that are there. A sink is asked
	// once for each of them.
	Shutdown()
}

// Package internal has the parts that tools/record and tools/events share. It has the interfaces of
// a recorder of events.k8s.io, because tools/record has an adapter for them. It also has the
// subject of an event.
package internal

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"
)

// EventRecorder records events.
type EventRecorder interface {
	// Eventf records an event about an object or a reference. related is a second object, or nil.
	// eventtype is Normal or Warning. reason and action are short CamelCase words, for programs.
	// note is a format for people.
	Eventf(regarding runtime.Object, related runtime.Object, eventtype, reason, action, note string, args ...interface{})
}

// AnnotatedEventRecorder records events with annotations.
type AnnotatedEventRecorder interface {
	// AnnotatedEventf is Eventf with annotations for the event.
	AnnotatedEventf(regarding runtime.Object, related runtime.Object, annotations map[string]string, eventtype, reason, action, note string, args ...interface{})
}

// EventRecorderLogger is an EventRecorder that logs the events that it cannot record.
type EventRecorderLogger interface {
	EventRecorder

	// WithLogger returns the recorder with another logger. The call is cheap.
	WithLogger(logger klog.Logger) EventRecorderLogger
}

// Package internal has what tools/record and tools/events share: the interfaces of a recorder of events.k8s.io, which tools/record
// has an adapter for, and how a recorder says what an event is about.
package internal

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"
)

// EventRecorder records events.
type EventRecorder interface {
	// Eventf records an event about an object, or a reference to one. Related is a second object, or nil. Eventtype is
	// Normal or Warning; reason and action are short words in CamelCase, for programs; note is a format for people.
	Eventf(regarding runtime.Object, related runtime.Object, eventtype, reason, action, note string, args ...interface{})
}

// AnnotatedEventRecorder records events with annotations.
type AnnotatedEventRecorder interface {
	// AnnotatedEventf is Eventf for an event that has these annotations.
	AnnotatedEventf(regarding runtime.Object, related runtime.Object, annotations map[string]string, eventtype, reason, action, note string, args ...interface{})
}

// EventRecorderLogger is an EventRecorder with a logger for what can't be recorded.
type EventRecorderLogger interface {
	EventRecorder

	// WithLogger returns the recorder with another logger. It is cheap.
	WithLogger(logger klog.Logger) EventRecorderLogger
}

package record

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	internalevents "k8s.io/client-go/tools/internal/events"
	"k8s.io/klog/v2"
)

func (b *broadcaster) NewRecorder(scheme *runtime.Scheme, source v1.EventSource) EventRecorderLogger {
	return &recorder{b.Broadcaster, scheme, source, klog.FromContext(b.ctx)}
}

type recorder struct {
	to     *watch.Broadcaster
	scheme *runtime.Scheme
	source v1.EventSource
	logger klog.Logger
}

func (r *recorder) WithLogger(logger klog.Logger) EventRecorderLogger {
	other := *r
	other.logger = logger
	return &other
}

func (r *recorder) Event(object runtime.Object, eventtype, reason, message string) {
	r.record(object, nil, eventtype, reason, message)
}

func (r *recorder) Eventf(object runtime.Object, eventtype, reason, messageFmt string, args ...interface{}) {
	r.record(object, nil, eventtype, reason, fmt.Sprintf(messageFmt, args...))
}

func (r *recorder) AnnotatedEventf(object runtime.Object, annotations map[string]string, eventtype, reason, messageFmt string, args ...interface{}) {
	r.record(object, annotations, eventtype, reason, fmt.Sprintf(messageFmt, args...))
}

func (r *recorder) record(object runtime.Object, annotations map[string]string, eventtype, reason, message string) {
	about, ok := internalevents.About(r.logger, r.scheme, object, annotations, eventtype, reason, message)
	if !ok {
		return
	}
	event := &v1.Event{
		ObjectMeta: about.Meta, InvolvedObject: *about.Object,
		Type: eventtype, Reason: reason, Message: message, Count: 1,
		Source: r.source, ReportingController: r.source.Component, ReportingInstance: r.source.Host,
	}
	event.FirstTimestamp.Time, event.LastTimestamp.Time = about.At, about.At
	about.Send(r.logger, r.to, reason, event)
}

// EventRecorderAdapter is a recorder of tools/events on top of a recorder of this package. It drops
// the related object and the action, which core events of this package do not have.
type EventRecorderAdapter struct{ recorder EventRecorderLogger }

var _ internalevents.EventRecorder = &EventRecorderAdapter{}

// NewEventRecorderAdapter returns an adapter for the recorder.
func NewEventRecorderAdapter(recorder EventRecorderLogger) *EventRecorderAdapter {
	return &EventRecorderAdapter{recorder}
}

// Eventf records an event about regarding.
func (a *EventRecorderAdapter) Eventf(regarding, _ runtime.Object, eventtype, reason, action, note string, args ...interface{}) {
	a.recorder.Eventf(regarding, eventtype, reason, note, args...)
}

// AnnotatedEventf records an event with annotations about regarding.
func (a *EventRecorderAdapter) AnnotatedEventf(regarding, _ runtime.Object, annotations map[string]string, eventtype, reason, action, note string, args ...interface{}) {
	a.recorder.AnnotatedEventf(regarding, annotations, eventtype, reason, note, args...)
}

// WithLogger returns the adapter with another logger.
func (a *EventRecorderAdapter) WithLogger(logger klog.Logger) internalevents.EventRecorderLogger {
	return &EventRecorderAdapter{a.recorder.WithLogger(logger)}
}

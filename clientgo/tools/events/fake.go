package events

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"
)

// FakeRecorder is a recorder for tests that sends events as text. It is safe for concurrent use.
// The zero value drops all events.
type FakeRecorder struct {
	// Events receives each event: type, reason and note. The recorder blocks while the channel is
	// full.
	Events chan string
	// Verbose adds the action, the annotations, and the kinds and versions of the objects to the
	// text.
	Verbose bool
}

var (
	_ EventRecorderLogger    = &FakeRecorder{}
	_ AnnotatedEventRecorder = &FakeRecorder{}
)

// NewFakeRecorder returns a recorder with a channel of this buffer size.
func NewFakeRecorder(bufferSize int) *FakeRecorder {
	return &FakeRecorder{Events: make(chan string, bufferSize)}
}

// Eventf sends an event.
func (f *FakeRecorder) Eventf(regarding runtime.Object, related runtime.Object, eventtype, reason, action, note string, args ...interface{}) {
	f.AnnotatedEventf(regarding, related, nil, eventtype, reason, action, note, args...)
}

// AnnotatedEventf sends an event.
func (f *FakeRecorder) AnnotatedEventf(regarding runtime.Object, related runtime.Object, annotations map[string]string, eventtype, reason, action, note string, args ...interface{}) {
	if f.Events == nil {
		return
	}
	text := fmt.Sprintf(note, args...)
	if !f.Verbose {
		f.Events <- eventtype + " " + reason + " " + text
		return
	}
	text = eventtype + " " + reason + " " + action + " " + text + describe(regarding) + describe(related)
	if len(annotations) > 0 {
		text += fmt.Sprintf(" %v", annotations)
	}
	f.Events <- text
}

// WithLogger returns the same recorder. It logs nothing.
func (f *FakeRecorder) WithLogger(logger klog.Logger) EventRecorderLogger { return f }

func describe(obj runtime.Object) string {
	if obj == nil {
		return ""
	}
	gvk := obj.GetObjectKind().GroupVersionKind()
	if gvk.Empty() {
		return ""
	}
	return fmt.Sprintf(" {kind=%s,apiVersion=%s}", gvk.Kind, gvk.GroupVersion())
}

package record

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"
)

// FakeRecorder is a recorder for tests that sends events as text. It is safe for concurrent use.
// The zero value drops all events.
type FakeRecorder struct {
	// Events receives each event: type, reason and message. The recorder blocks while the channel
	// is full.
	Events chan string

	// IncludeObject adds the kind and version of the object to the text.
	IncludeObject bool
}

var _ EventRecorderLogger = &FakeRecorder{}

// NewFakeRecorder returns a recorder with a channel of this buffer size.
func NewFakeRecorder(bufferSize int) *FakeRecorder {
	return &FakeRecorder{Events: make(chan string, bufferSize)}
}

// Event sends an event.
func (f *FakeRecorder) Event(object runtime.Object, eventtype, reason, message string) {
	f.send(object, nil, eventtype, reason, message)
}

// Eventf sends an event.
func (f *FakeRecorder) Eventf(object runtime.Object, eventtype, reason, messageFmt string, args ...interface{}) {
	f.send(object, nil, eventtype, reason, fmt.Sprintf(messageFmt, args...))
}

// AnnotatedEventf sends an event. If there are annotations, the text has them as a Go map.
func (f *FakeRecorder) AnnotatedEventf(object runtime.Object, annotations map[string]string, eventtype, reason, messageFmt string, args ...interface{}) {
	f.send(object, annotations, eventtype, reason, fmt.Sprintf(messageFmt, args...))
}

// WithLogger returns the same recorder. It logs nothing.
func (f *FakeRecorder) WithLogger(logger klog.Logger) EventRecorderLogger { return f }

func (f *FakeRecorder) send(object runtime.Object, annotations map[string]string, eventtype, reason, message string) {
	if f.Events == nil {
		return
	}
	text := eventtype + " " + reason + " " + message
	if f.IncludeObject {
		gvk := object.GetObjectKind().GroupVersionKind()
		text += fmt.Sprintf(" involvedObject{kind=%s,apiVersion=%s}", gvk.Kind, gvk.GroupVersion())
	}
	if len(annotations) > 0 {
		text += fmt.Sprintf(" %v", annotations)
	}
	f.Events <- text
}

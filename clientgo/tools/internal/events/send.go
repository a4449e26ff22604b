package internal

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/record/util"
	"k8s.io/client-go/tools/reference"
	"k8s.io/klog/v2"
)

// Subject is the common part of the events of both APIs: the object, the metadata and the time.
type Subject struct {
	// Object is the object that the event is about.
	Object *corev1.ObjectReference
	// Meta is the event's metadata. The event is in the object's namespace, or in "default".
	Meta metav1.ObjectMeta
	// At is the time of the event.
	At time.Time
}

// About returns the subject of an event. If the event cannot be recorded, About logs the reason and
// the event's text, and returns false.
func About(logger klog.Logger, scheme *runtime.Scheme, object runtime.Object, annotations map[string]string, eventtype, reason, text string) (Subject, bool) {
	to, err := reference.GetReference(scheme, object)
	if err != nil {
		logger.Error(err, "Could not record an event about an object of this type", "type", fmt.Sprintf("%T", object), "eventType", eventtype, "reason", reason, "text", text)
		return Subject{}, false
	}
	if !util.ValidateEventType(eventtype) {
		logger.Error(nil, "Unsupported event type", "eventType", eventtype)
		return Subject{}, false
	}
	s := Subject{Object: to, At: time.Now()}
	s.Meta.Annotations = annotations
	s.Meta.Name = util.GenerateEventName(to.Name, s.At.UnixNano())
	if s.Meta.Namespace = to.Namespace; s.Meta.Namespace == "" {
		s.Meta.Namespace = metav1.NamespaceDefault
	}
	return s, true
}

// Send sends an event to the broadcaster without blocking. If the event cannot be sent, Send logs
// it.
func (s Subject) Send(logger klog.Logger, to *watch.Broadcaster, reason string, event runtime.Object) {
	switch sent, err := to.ActionOrDrop(watch.Added, event); {
	case err != nil:
		logger.Error(err, "Could not record an event", "reason", reason)
	case !sent:
		logger.Error(nil, "Dropped an event, as too many are waiting", "object", klog.KRef(s.Object.Namespace, s.Object.Name), "reason", reason)
	}
}

package events

import (
	"fmt"
	"os"

	v1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/record/util"
	"k8s.io/client-go/tools/reference"
	"k8s.io/klog/v2"
)

func (b *broadcaster) NewRecorder(scheme *runtime.Scheme, reportingController string) EventRecorderLogger {
	host, _ := os.Hostname() // without a name, the instance is the controller's
	return &recorder{b.Broadcaster, scheme, reportingController, reportingController + "-" + host, klog.Background()}
}

type recorder struct {
	to                   *watch.Broadcaster
	scheme               *runtime.Scheme
	controller, instance string
	logger               klog.Logger
}

var _ AnnotatedEventRecorder = &recorder{}

func (r *recorder) WithLogger(logger klog.Logger) EventRecorderLogger {
	other := *r
	other.logger = logger
	return &other
}

func (r *recorder) Eventf(regarding runtime.Object, related runtime.Object, eventtype, reason, action, note string, args ...interface{}) {
	r.AnnotatedEventf(regarding, related, nil, eventtype, reason, action, note, args...)
}

func (r *recorder) AnnotatedEventf(regarding runtime.Object, related runtime.Object, annotations map[string]string, eventtype, reason, action, note string, args ...interface{}) {
	text := fmt.Sprintf(note, args...)
	ref, err := reference.GetReference(r.scheme, regarding)
	if err != nil {
		r.logger.Error(err, "Could not record an event about an object of this type", "type", fmt.Sprintf("%T", regarding), "eventType", eventtype, "reason", reason, "note", text)
		return
	}
	var other *v1.ObjectReference
	if related != nil {
		if other, err = reference.GetReference(r.scheme, related); err != nil {
			r.logger.V(9).Info("An event is recorded without its related object", "type", fmt.Sprintf("%T", related), "err", err)
		}
	}
	if !util.ValidateEventType(eventtype) {
		r.logger.Error(nil, "Unsupported event type", "eventType", eventtype)
		return
	}
	now := metav1.NowMicro()
	namespace := ref.Namespace
	if namespace == "" {
		namespace = metav1.NamespaceDefault
	}
	sent, err := r.to.ActionOrDrop(watch.Added, &eventsv1.Event{
		ObjectMeta: metav1.ObjectMeta{
			Name:        util.GenerateEventName(ref.Name, now.UnixNano()),
			Namespace:   namespace,
			Annotations: annotations,
		},
		EventTime:           now,
		ReportingController: r.controller,
		ReportingInstance:   r.instance,
		Action:              action,
		Reason:              reason,
		Regarding:           *ref,
		Related:             other,
		Note:                text,
		Type:                eventtype,
	})
	switch {
	case err != nil:
		r.logger.Error(err, "Could not record an event", "reason", reason)
	case !sent:
		r.logger.Error(nil, "Dropped an event, as too many are waiting", "object", klog.KRef(ref.Namespace, ref.Name), "reason", reason)
	}
}

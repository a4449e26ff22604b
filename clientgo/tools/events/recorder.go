package events

import (
	"fmt"
	"os"

	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	internalevents "k8s.io/client-go/tools/internal/events"
	"k8s.io/client-go/tools/reference"
	"k8s.io/klog/v2"
)

func (b *broadcaster) NewRecorder(scheme *runtime.Scheme, reportingController string) EventRecorderLogger {
	host, _ := os.Hostname() // without a host name, the instance ends with the hyphen
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
	about, ok := internalevents.About(r.logger, r.scheme, regarding, annotations, eventtype, reason, text)
	if !ok {
		return
	}
	event := &eventsv1.Event{
		ObjectMeta: about.Meta, Regarding: *about.Object, EventTime: metav1.NewMicroTime(about.At),
		Type: eventtype, Reason: reason, Action: action, Note: text,
		ReportingController: r.controller, ReportingInstance: r.instance,
	}
	if related != nil {
		var err error
		if event.Related, err = reference.GetReference(r.scheme, related); err != nil {
			r.logger.V(9).Info("An event is recorded without its related object", "type", fmt.Sprintf("%T", related), "err", err)
		}
	}
	about.Send(r.logger, r.to, reason, event)
}

package events

import (
	"context"
	"encoding/json"
	"math"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/rest"
)

// eventRequest is a copy of a series, for one request.
type eventRequest struct {
	series
	original *series
	count    uint64 // number of its events
}

// server creates and updates Events in one of the two APIs.
type server interface {
	// Both return the resourceVersion of the Event after the request.
	create(ctx context.Context, m *eventRequest) (version string, err error)
	update(ctx context.Context, m *eventRequest) (version string, err error)
}

func newServer(client *rest.Client, controller string, opts Options) (server, error) {
	if opts.CoreV1 {
		events, err := rest.For[*corev1.Event](client, rest.ResourceOptions{})
		return &coreServer{controller, opts.Instance, events}, err
	}
	events, err := rest.For[*eventsv1.Event](client, rest.ResourceOptions{})
	return &eventsServer{controller, opts.Instance, events}, err
}

// eventsServer is the server for Events of events.k8s.io/v1.
type eventsServer struct {
	controller, instance string
	events               *rest.Resource[*eventsv1.Event]
}

func (v *eventsServer) create(ctx context.Context, m *eventRequest) (string, error) {
	e := &eventsv1.Event{
		ObjectMeta: m.meta(), EventTime: metav1.NewMicroTime(m.first),
		ReportingController: v.controller, ReportingInstance: v.instance,
		Action: m.group.action, Reason: m.group.reason, Type: m.group.kind, Note: m.note,
		Regarding: m.regarding(), Related: m.related(),
	}
	if m.count > 1 {
		e.Series = &eventsv1.EventSeries{Count: count(m.count), LastObservedTime: metav1.NewMicroTime(m.last)}
	}
	return versionOf(v.events.Create(ctx, e, metav1.CreateOptions{}))
}

func (v *eventsServer) update(ctx context.Context, m *eventRequest) (string, error) {
	patch, err := json.Marshal(struct {
		precondition
		Series eventsv1.EventSeries `json:"series"`
	}{m.precondition(), eventsv1.EventSeries{Count: count(m.count), LastObservedTime: metav1.NewMicroTime(m.last)}})
	if err != nil {
		return "", err
	}
	return versionOf(v.events.Patch(ctx, m.key(), types.MergePatchType, patch, metav1.PatchOptions{}))
}

// coreServer is the server for Events of core/v1.
type coreServer struct {
	controller, instance string
	events               *rest.Resource[*corev1.Event]
}

func (v *coreServer) create(ctx context.Context, m *eventRequest) (string, error) {
	return versionOf(v.events.Create(ctx, &corev1.Event{
		ObjectMeta: m.meta(), InvolvedObject: m.regarding(), Related: m.related(),
		Source: corev1.EventSource{Component: v.controller}, ReportingController: v.controller, ReportingInstance: v.instance,
		Action: m.group.action, Reason: m.group.reason, Type: m.group.kind, Message: m.note,
		FirstTimestamp: metav1.NewTime(m.first), LastTimestamp: metav1.NewTime(m.last), Count: count(m.count),
	}, metav1.CreateOptions{}))
}

func (v *coreServer) update(ctx context.Context, m *eventRequest) (string, error) {
	patch, err := json.Marshal(struct {
		precondition
		Count int32       `json:"count"`
		Last  metav1.Time `json:"lastTimestamp"`
	}{m.precondition(), count(m.count), metav1.NewTime(m.last)})
	if err != nil {
		return "", err
	}
	return versionOf(v.events.Patch(ctx, m.key(), types.MergePatchType, patch, metav1.PatchOptions{}))
}

// precondition is a part of a patch. It makes the server refuse the patch if the Event has changed
// since this Recorder's last request. The server may execute an abandoned request minutes later.
// Without a condition, such a request would lower the count again.
type precondition struct {
	Metadata struct {
		ResourceVersion string `json:"resourceVersion,omitempty"`
	} `json:"metadata,omitzero"`
}

func (m *eventRequest) precondition() (c precondition) {
	c.Metadata.ResourceVersion = m.stored
	return c
}

// versionOf returns the resourceVersion of the object that a request returned.
func versionOf(object metav1.Object, err error) (string, error) {
	if err != nil {
		return "", err
	}
	return object.GetResourceVersion(), nil
}

func (m *eventRequest) key() types.NamespacedName {
	return types.NamespacedName{Namespace: namespaceOf(&m.group.regarding), Name: m.name}
}

func (m *eventRequest) meta() metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespaceOf(&m.group.regarding), Name: m.name, Annotations: m.annotations}
}

func (m *eventRequest) regarding() corev1.ObjectReference {
	ref := m.group.regarding
	ref.ResourceVersion = m.version
	return ref
}

func (m *eventRequest) related() *corev1.ObjectReference {
	if m.group.related == (corev1.ObjectReference{}) {
		return nil
	}
	return &m.group.related
}

// count converts n to the type of an Event's count.
func count(n uint64) int32 { return int32(min(n, math.MaxInt32)) }

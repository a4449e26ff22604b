package fake

import (
	eventsv1beta1 "k8s.io/api/events/v1beta1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/internal/fakes"
	"k8s.io/client-go/testing"
)

// CreateWithEventNamespace creates an event in the client's namespace.
func (c fakeEvents) CreateWithEventNamespace(event *eventsv1beta1.Event) (*eventsv1beta1.Event, error) {
	return fakes.Invoke(c, testing.NewCreateAction(c.Resource(), c.Namespace(), event), event)
}

// UpdateWithEventNamespace replaces an event in the client's namespace.
func (c fakeEvents) UpdateWithEventNamespace(event *eventsv1beta1.Event) (*eventsv1beta1.Event, error) {
	return fakes.Invoke(c, testing.NewUpdateAction(c.Resource(), c.Namespace(), event), event)
}

// PatchWithEventNamespace changes an event in the client's namespace.
func (c fakeEvents) PatchWithEventNamespace(event *eventsv1beta1.Event, data []byte) (*eventsv1beta1.Event, error) {
	return fakes.Invoke(c, testing.NewPatchAction(c.Resource(), c.Namespace(), event.Name, types.StrategicMergePatchType, data), event)
}

package v1beta1

import (
	"context"
	"fmt"

	eventsv1beta1 "k8s.io/api/events/v1beta1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
)

// EventExpansion has methods that use the namespace of the event. If the client has a namespace, it
// must be the same.
type EventExpansion interface {
	CreateWithEventNamespace(event *eventsv1beta1.Event) (*eventsv1beta1.Event, error)
	UpdateWithEventNamespace(event *eventsv1beta1.Event) (*eventsv1beta1.Event, error)
	PatchWithEventNamespace(event *eventsv1beta1.Event, data []byte) (*eventsv1beta1.Event, error)
}

// CreateWithEventNamespace implements EventExpansion.
func (c *events) CreateWithEventNamespace(event *eventsv1beta1.Event) (*eventsv1beta1.Event, error) {
	return c.send(event, "create", func() *rest.Request { return c.GetClient().Post().Body(event) })
}

// UpdateWithEventNamespace implements EventExpansion.
func (c *events) UpdateWithEventNamespace(event *eventsv1beta1.Event) (*eventsv1beta1.Event, error) {
	return c.send(event, "update", func() *rest.Request { return c.GetClient().Put().Name(event.Name).Body(event) })
}

// PatchWithEventNamespace implements EventExpansion.
func (c *events) PatchWithEventNamespace(event *eventsv1beta1.Event, data []byte) (*eventsv1beta1.Event, error) {
	return c.send(event, "patch", func() *rest.Request {
		return c.GetClient().Patch(types.StrategicMergePatchType).Name(event.Name).Body(data)
	})
}

func (c *events) send(event *eventsv1beta1.Event, verb string, request func() *rest.Request) (*eventsv1beta1.Event, error) {
	if ns := c.GetNamespace(); ns != "" && event.Namespace != ns {
		return nil, fmt.Errorf("can't %s an event with namespace '%v' in namespace '%v'", verb, event.Namespace, ns)
	}
	result := &eventsv1beta1.Event{}
	err := request().NamespaceIfScoped(event.Namespace, event.Namespace != "").Resource("events").Do(context.Background()).Into(result)
	return result, err
}

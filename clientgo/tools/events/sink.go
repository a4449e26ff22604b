package events

import (
	"context"
	"fmt"

	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	typedeventsv1 "k8s.io/client-go/kubernetes/typed/events/v1"
)

// EventSinkImpl is a sink that writes each event to the event's namespace with a typed client.
type EventSinkImpl struct {
	Interface typedeventsv1.EventsV1Interface
}

var _ EventSink = &EventSinkImpl{}

// Create creates the event.
func (e *EventSinkImpl) Create(ctx context.Context, event *eventsv1.Event) (*eventsv1.Event, error) {
	events, err := e.namespacedClient(event, "create")
	if err != nil {
		return nil, err
	}
	return events.Create(ctx, event, metav1.CreateOptions{})
}

// Update replaces the event of the same name.
func (e *EventSinkImpl) Update(ctx context.Context, event *eventsv1.Event) (*eventsv1.Event, error) {
	events, err := e.namespacedClient(event, "update")
	if err != nil {
		return nil, err
	}
	return events.Update(ctx, event, metav1.UpdateOptions{})
}

// Patch changes the event of the same name with a strategic merge patch.
func (e *EventSinkImpl) Patch(ctx context.Context, event *eventsv1.Event, data []byte) (*eventsv1.Event, error) {
	events, err := e.namespacedClient(event, "patch")
	if err != nil {
		return nil, err
	}
	return events.Patch(ctx, event.Name, types.StrategicMergePatchType, data, metav1.PatchOptions{})
}

// namespacedClient returns the client for the event's namespace. An empty namespace is an error.
func (e *EventSinkImpl) namespacedClient(event *eventsv1.Event, verb string) (typedeventsv1.EventInterface, error) {
	if event.Namespace == metav1.NamespaceAll {
		return nil, fmt.Errorf("can't %s an event with empty namespace", verb)
	}
	return e.Interface.Events(event.Namespace), nil
}

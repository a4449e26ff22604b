package v1

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/reference"
)

// inNamespaceOf returns an error if the client has a namespace other than the event's.
func (c *events) inNamespaceOf(event *corev1.Event, verb string) error {
	if ns := c.GetNamespace(); ns != "" && event.Namespace != ns {
		return fmt.Errorf("can't %s an event with namespace '%v' in namespace '%v'", verb, event.Namespace, ns)
	}
	return nil
}

// CreateWithEventNamespace implements EventExpansion.
func (c *events) CreateWithEventNamespace(event *corev1.Event) (*corev1.Event, error) {
	return c.CreateWithEventNamespaceWithContext(context.Background(), event)
}

// CreateWithEventNamespaceWithContext implements EventExpansion.
func (c *events) CreateWithEventNamespaceWithContext(ctx context.Context, event *corev1.Event) (*corev1.Event, error) {
	if err := c.inNamespaceOf(event, "create"); err != nil {
		return nil, err
	}
	result := &corev1.Event{}
	err := c.GetClient().Post().NamespaceIfScoped(event.Namespace, event.Namespace != "").Resource("events").Body(event).Do(ctx).Into(result)
	return result, err
}

// UpdateWithEventNamespace implements EventExpansion.
func (c *events) UpdateWithEventNamespace(event *corev1.Event) (*corev1.Event, error) {
	return c.UpdateWithEventNamespaceWithContext(context.Background(), event)
}

// UpdateWithEventNamespaceWithContext implements EventExpansion.
func (c *events) UpdateWithEventNamespaceWithContext(ctx context.Context, event *corev1.Event) (*corev1.Event, error) {
	if err := c.inNamespaceOf(event, "update"); err != nil {
		return nil, err
	}
	result := &corev1.Event{}
	err := c.GetClient().Put().NamespaceIfScoped(event.Namespace, event.Namespace != "").Resource("events").Name(event.Name).Body(event).Do(ctx).Into(result)
	return result, err
}

// PatchWithEventNamespace implements EventExpansion.
func (c *events) PatchWithEventNamespace(event *corev1.Event, data []byte) (*corev1.Event, error) {
	return c.PatchWithEventNamespaceWithContext(context.Background(), event, data)
}

// PatchWithEventNamespaceWithContext implements EventExpansion.
func (c *events) PatchWithEventNamespaceWithContext(ctx context.Context, event *corev1.Event, data []byte) (*corev1.Event, error) {
	if err := c.inNamespaceOf(event, "patch"); err != nil {
		return nil, err
	}
	result := &corev1.Event{}
	err := c.GetClient().Patch(types.StrategicMergePatchType).NamespaceIfScoped(event.Namespace, event.Namespace != "").
		Resource("events").Name(event.Name).Body(data).Do(ctx).Into(result)
	return result, err
}

// Search implements EventExpansion.
func (c *events) Search(scheme *runtime.Scheme, objOrRef runtime.Object) (*corev1.EventList, error) {
	return c.SearchWithContext(context.Background(), scheme, objOrRef)
}

// SearchWithContext implements EventExpansion.
func (c *events) SearchWithContext(ctx context.Context, scheme *runtime.Scheme, objOrRef runtime.Object) (*corev1.EventList, error) {
	ref, err := reference.GetReference(scheme, objOrRef)
	if err != nil {
		return nil, err
	}
	if ns := c.GetNamespace(); ns != "" && ref.Namespace != ns {
		return nil, fmt.Errorf("won't be able to find any events of namespace '%v' in namespace '%v'", ref.Namespace, ns)
	}
	kind, uid := &ref.Kind, (*string)(&ref.UID)
	if *kind == "" {
		kind = nil
	}
	if *uid == "" {
		uid = nil
	}
	return c.List(ctx, metav1.ListOptions{FieldSelector: c.GetFieldSelector(&ref.Name, &ref.Namespace, kind, uid).String()})
}

// GetFieldSelector implements EventExpansion.
func (c *events) GetFieldSelector(involvedObjectName, involvedObjectNamespace, involvedObjectKind, involvedObjectUID *string) fields.Selector {
	selected := fields.Set{}
	for field, value := range map[string]*string{
		GetInvolvedObjectNameFieldLabel(c.GetClient().APIVersion().String()): involvedObjectName,
		"involvedObject.namespace": involvedObjectNamespace,
		"involvedObject.kind":      involvedObjectKind,
		"involvedObject.uid":       involvedObjectUID,
	} {
		if value != nil {
			selected[field] = *value
		}
	}
	return selected.AsSelector()
}

// GetInvolvedObjectNameFieldLabel returns the field that selects events by the name of their
// object.
func GetInvolvedObjectNameFieldLabel(version string) string { return "involvedObject.name" }

// EventSinkImpl is an event sink for package record. It writes each event to the event's namespace.
type EventSinkImpl struct{ Interface EventInterface }

// Create creates an event.
func (e *EventSinkImpl) Create(event *corev1.Event) (*corev1.Event, error) {
	return e.Interface.CreateWithEventNamespaceWithContext(context.Background(), event)
}

// Update replaces an event.
func (e *EventSinkImpl) Update(event *corev1.Event) (*corev1.Event, error) {
	return e.Interface.UpdateWithEventNamespaceWithContext(context.Background(), event)
}

// Patch changes an event.
func (e *EventSinkImpl) Patch(event *corev1.Event, data []byte) (*corev1.Event, error) {
	return e.Interface.PatchWithEventNamespaceWithContext(context.Background(), event, data)
}

package fake

import (
	"cmp"
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/internal/fakes"
	"k8s.io/client-go/testing"
)

// namespaceOf returns the client's namespace, or the event's namespace if the client has none. The
// event may be nil if the client has a namespace.
func (c fakeEvents) namespaceOf(event *corev1.Event) string {
	if namespace := c.Namespace(); namespace != "" {
		return namespace
	}
	return event.Namespace
}

// CreateWithEventNamespace is CreateWithEventNamespaceWithContext.
func (c fakeEvents) CreateWithEventNamespace(event *corev1.Event) (*corev1.Event, error) {
	return c.CreateWithEventNamespaceWithContext(context.Background(), event)
}

// CreateWithEventNamespaceWithContext creates an event in the client's namespace, or in the event's
// namespace if the client has none.
func (c fakeEvents) CreateWithEventNamespaceWithContext(_ context.Context, event *corev1.Event) (*corev1.Event, error) {
	return fakes.Invoke(c, testing.NewCreateAction(c.Resource(), c.namespaceOf(event), event), event)
}

// UpdateWithEventNamespace is UpdateWithEventNamespaceWithContext.
func (c fakeEvents) UpdateWithEventNamespace(event *corev1.Event) (*corev1.Event, error) {
	return c.UpdateWithEventNamespaceWithContext(context.Background(), event)
}

// UpdateWithEventNamespaceWithContext replaces an event in the client's namespace, or in the
// event's namespace if the client has none.
func (c fakeEvents) UpdateWithEventNamespaceWithContext(_ context.Context, event *corev1.Event) (*corev1.Event, error) {
	return fakes.Invoke(c, testing.NewUpdateAction(c.Resource(), c.namespaceOf(event), event), event)
}

// PatchWithEventNamespace is PatchWithEventNamespaceWithContext.
func (c fakeEvents) PatchWithEventNamespace(event *corev1.Event, data []byte) (*corev1.Event, error) {
	return c.PatchWithEventNamespaceWithContext(context.Background(), event, data)
}

// PatchWithEventNamespaceWithContext changes an event in the client's namespace, or in the event's
// namespace if the client has none.
func (c fakeEvents) PatchWithEventNamespaceWithContext(_ context.Context, event *corev1.Event, data []byte) (*corev1.Event, error) {
	return fakes.Invoke(c, testing.NewPatchAction(c.Resource(), c.namespaceOf(event), event.Name, types.StrategicMergePatchType, data), event)
}

// Search is SearchWithContext.
func (c fakeEvents) Search(scheme *runtime.Scheme, objOrRef runtime.Object) (*corev1.EventList, error) {
	return c.SearchWithContext(context.Background(), scheme, objOrRef)
}

// SearchWithContext returns all events of the client's namespace, or of "default" if the client has
// none. It ignores the object.
func (c fakeEvents) SearchWithContext(context.Context, *runtime.Scheme, runtime.Object) (*corev1.EventList, error) {
	namespace := cmp.Or(c.Namespace(), metav1.NamespaceDefault)
	return fakes.Invoke(c, testing.NewListAction(c.Resource(), c.Kind(), namespace, metav1.ListOptions{}), &corev1.EventList{})
}

// GetFieldSelector records an action, and returns a selector of all events.
func (c fakeEvents) GetFieldSelector(_, _, _, _ *string) fields.Selector {
	_, _ = c.Invokes(testing.GenericActionImpl{ActionImpl: testing.ActionImpl{Verb: "get-field-selector", Resource: c.Resource()}}, nil)
	return fields.Everything()
}

package gentype

import (
	"context"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/apply"
)

// namedObject is a pointer to an apply configuration that has a name.
type namedObject interface {
	comparable
	GetName() *string
}

// ClientWithApply is a Client that also has Apply and ApplyStatus.
type ClientWithApply[T objectWithMeta, C namedObject] struct {
	*Client[T]
	applyMixin[T, C]
}

// NewClientWithApply is NewClient for a client with Apply.
func NewClientWithApply[T objectWithMeta, C namedObject](
	resource string, client rest.Interface, parameterCodec runtime.ParameterCodec, namespace string, emptyObjectCreator func() T, options ...Option[T],
) *ClientWithApply[T, C] {
	c := NewClient(resource, client, parameterCodec, namespace, emptyObjectCreator, options...)
	return &ClientWithApply[T, C]{c, applyMixin[T, C]{c}}
}

// ClientWithListAndApply is a Client with List and Apply.
type ClientWithListAndApply[T objectWithMeta, L runtime.Object, C namedObject] struct {
	*Client[T]
	listMixin[T, L]
	applyMixin[T, C]
}

// NewClientWithListAndApply is NewClient for a client with List and Apply.
func NewClientWithListAndApply[T objectWithMeta, L runtime.Object, C namedObject](
	resource string, client rest.Interface, parameterCodec runtime.ParameterCodec, namespace string, emptyObjectCreator func() T,
	emptyListCreator func() L, options ...Option[T],
) *ClientWithListAndApply[T, L, C] {
	c := NewClient(resource, client, parameterCodec, namespace, emptyObjectCreator, options...)
	return &ClientWithListAndApply[T, L, C]{c, listMixin[T, L]{c, emptyListCreator}, applyMixin[T, C]{c}}
}

// applyMixin adds Apply to a client.
type applyMixin[T objectWithMeta, C namedObject] struct{ client *Client[T] }

// Apply applies a configuration, which must have a name, and returns the object as the server
// stored it.
func (a *applyMixin[T, C]) Apply(ctx context.Context, obj C, opts metav1.ApplyOptions) (T, error) {
	return a.apply(ctx, obj, opts)
}

// ApplyStatus applies the status of a configuration, which must have a name, and returns the object
// as the server stored it.
func (a *applyMixin[T, C]) ApplyStatus(ctx context.Context, obj C, opts metav1.ApplyOptions) (T, error) {
	return a.apply(ctx, obj, opts, "status")
}

func (a *applyMixin[T, C]) apply(ctx context.Context, obj C, opts metav1.ApplyOptions, subresources ...string) (none T, err error) {
	name, err := nameOf(obj)
	if err != nil {
		return none, err
	}
	request, err := apply.NewRequest(a.client.client, obj)
	if err != nil {
		return none, err
	}
	patch := opts.ToPatchOptions()
	return a.client.object(ctx, a.client.completeRequest(request, &patch).Name(name).SubResource(subresources...))
}

// nameOf returns the name in an apply configuration.
func nameOf[C namedObject](obj C) (string, error) {
	if obj == *new(C) {
		return "", errors.New("object provided to Apply must not be nil")
	}
	name := obj.GetName()
	if name == nil {
		return "", errors.New("obj.Name must be provided to Apply")
	}
	return *name, nil
}

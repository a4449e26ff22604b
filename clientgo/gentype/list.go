package gentype

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
)

// ClientWithList is a Client with List.
type ClientWithList[T objectWithMeta, L runtime.Object] struct {
	*Client[T]
	listMixin[T, L]
}

// NewClientWithList is NewClient for a client with List. emptyListCreator returns a new list to
// decode into.
func NewClientWithList[T objectWithMeta, L runtime.Object](
	resource string, client rest.Interface, parameterCodec runtime.ParameterCodec, namespace string, emptyObjectCreator func() T,
	emptyListCreator func() L, options ...Option[T],
) *ClientWithList[T, L] {
	c := NewClient(resource, client, parameterCodec, namespace, emptyObjectCreator, options...)
	return &ClientWithList[T, L]{c, listMixin[T, L]{c, emptyListCreator}}
}

// listMixin adds List to a client.
type listMixin[T objectWithMeta, L runtime.Object] struct {
	client  *Client[T]
	newList func() L
}

// List returns the objects that the options select.
func (l *listMixin[T, L]) List(ctx context.Context, opts metav1.ListOptions) (L, error) {
	list := l.newList()
	err := l.client.completeRequest(l.client.client.Get(), &opts).Timeout(timeout(opts)).Do(ctx).Into(list)
	return list, err
}

// DeleteCollection deletes the objects that the options select.
func (l *listMixin[T, L]) DeleteCollection(ctx context.Context, opts metav1.DeleteOptions, listOpts metav1.ListOptions) error {
	return l.client.completeRequest(l.client.client.Delete(), &listOpts).Timeout(timeout(listOpts)).Body(&opts).Do(ctx).Error()
}

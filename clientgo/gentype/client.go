// Package gentype has the methods of typed clients, once for all types.
package gentype

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
)

// objectWithMeta is a pointer to an API type.
type objectWithMeta interface {
	runtime.Object
	metav1.Object
}

// Client sends the requests for objects of one resource, in one namespace or cluster-scoped. It is
// safe for concurrent use. If a method returns an error, the object that it returns did not come
// from the server.
type Client[T objectWithMeta] struct {
	resource  string
	client    rest.Interface
	codec     runtime.ParameterCodec
	namespace string // "" for a cluster-scoped resource, and for all namespaces
	newObject func() T
	protobuf  bool
}

// Option configures a new client.
type Option[T objectWithMeta] func(*Client[T])

// PrefersProtobuf makes a client use protobuf if its configuration does not choose an encoding.
func PrefersProtobuf[T objectWithMeta]() Option[T] {
	return func(c *Client[T]) { c.protobuf = true }
}

// NewClient returns a client without List and Apply. emptyObjectCreator returns a new object to
// decode into.
func NewClient[T objectWithMeta](
	resource string, client rest.Interface, parameterCodec runtime.ParameterCodec, namespace string, emptyObjectCreator func() T, options ...Option[T],
) *Client[T] {
	c := &Client[T]{resource: resource, client: client, codec: parameterCodec, namespace: namespace, newObject: emptyObjectCreator}
	for _, option := range options {
		option(c)
	}
	return c
}

// GetClient returns the REST client that sends the requests.
func (c *Client[T]) GetClient() rest.Interface { return c.client }

// GetNamespace returns the client's namespace, or "".
func (c *Client[T]) GetNamespace() string { return c.namespace }

// completeRequest completes the request r for the resource, with options as query parameters.
func (c *Client[T]) completeRequest(r *rest.Request, options runtime.Object) *rest.Request {
	return r.UseProtobufAsDefaultIfPreferred(c.protobuf).NamespaceIfScoped(c.namespace, c.namespace != "").
		Resource(c.resource).VersionedParams(options, c.codec)
}

// object sends a request whose response is an object.
func (c *Client[T]) object(ctx context.Context, r *rest.Request) (T, error) {
	result := c.newObject()
	err := r.Do(ctx).Into(result)
	return result, err
}

// Get returns the object with the given name.
func (c *Client[T]) Get(ctx context.Context, name string, options metav1.GetOptions) (T, error) {
	return c.object(ctx, c.completeRequest(c.client.Get(), &options).Name(name))
}

// Create creates an object, and returns it as the server stored it.
func (c *Client[T]) Create(ctx context.Context, obj T, opts metav1.CreateOptions) (T, error) {
	return c.object(ctx, c.completeRequest(c.client.Post(), &opts).Body(obj))
}

// Update replaces an object, and returns it as the server stored it.
func (c *Client[T]) Update(ctx context.Context, obj T, opts metav1.UpdateOptions) (T, error) {
	return c.object(ctx, c.completeRequest(c.client.Put(), &opts).Name(obj.GetName()).Body(obj))
}

// UpdateStatus replaces the status of an object, and returns the object as the server stored it.
func (c *Client[T]) UpdateStatus(ctx context.Context, obj T, opts metav1.UpdateOptions) (T, error) {
	return c.object(ctx, c.completeRequest(c.client.Put(), &opts).Name(obj.GetName()).SubResource("status").Body(obj))
}

// Patch changes an object, or a subresource of it, and returns the object as the server stored it.
func (c *Client[T]) Patch(ctx context.Context, name string, pt types.PatchType, data []byte, opts metav1.PatchOptions, subresources ...string) (T, error) {
	return c.object(ctx, c.completeRequest(c.client.Patch(pt), &opts).Name(name).SubResource(subresources...).Body(data))
}

// Delete deletes the object with the given name.
func (c *Client[T]) Delete(ctx context.Context, name string, opts metav1.DeleteOptions) error {
	return c.client.Delete().UseProtobufAsDefaultIfPreferred(c.protobuf).NamespaceIfScoped(c.namespace, c.namespace != "").
		Resource(c.resource).Name(name).Body(&opts).Do(ctx).Error()
}

// Watch returns the changes of the objects. The caller must stop it.
func (c *Client[T]) Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
	opts.Watch = true
	return c.completeRequest(c.client.Get(), &opts).Timeout(timeout(opts)).Watch(ctx)
}

// timeout returns the server-side timeout of a list or watch. The client enforces it for a list,
// but not for a watch.
func timeout(opts metav1.ListOptions) time.Duration {
	if opts.TimeoutSeconds == nil {
		return 0
	}
	return time.Duration(*opts.TimeoutSeconds) * time.Second
}

package metadata

import (
	"context"
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/internal/respath"
	"k8s.io/client-go/rest"
)

// Accept headers. A client prefers only the metadata in protobuf, then only the metadata in JSON,
// and then whole objects.
const (
	acceptObject = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
	acceptList   = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
)

// Client implements Interface with a REST client.
type Client struct{ client rest.Interface }

var _ Interface = &Client{}

// ConfigFor returns a copy of a configuration with the settings that a metadata client needs.
func ConfigFor(inConfig *rest.Config) *rest.Config {
	config := rest.CopyConfig(inConfig)
	config.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	config.ContentType = runtime.ContentTypeProtobuf
	config.NegotiatedSerializer = newSerializer()
	if config.UserAgent == "" {
		config.UserAgent = rest.DefaultKubernetesUserAgent()
	}
	return config
}

// NewForConfig returns a client for a server.
func NewForConfig(inConfig *rest.Config) (Interface, error) {
	config := ConfigFor(inConfig)
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	return NewForConfigAndClient(config, httpClient)
}

// NewForConfigAndClient returns a client that uses the http.Client h. It ignores the transport of
// the configuration.
func NewForConfigAndClient(inConfig *rest.Config, h *http.Client) (Interface, error) {
	config := ConfigFor(inConfig)
	config.GroupVersion = &schema.GroupVersion{}
	config.APIPath = "/paths-are-absolute" // each request sets its own path
	client, err := rest.RESTClientForConfigAndClient(config, h)
	if err != nil {
		return nil, err
	}
	return &Client{client: client}, nil
}

// NewForConfigOrDie is NewForConfig, but panics on an error.
func NewForConfigOrDie(c *rest.Config) Interface {
	client, err := NewForConfig(c)
	if err != nil {
		panic(err)
	}
	return client
}

// Resource implements Interface.
func (c *Client) Resource(resource schema.GroupVersionResource) Getter {
	return &resourceClient{client: c.client, resource: resource}
}

// resourceClient implements Getter.
type resourceClient struct {
	client    rest.Interface
	resource  schema.GroupVersionResource
	namespace string
}

// Namespace implements Getter.
func (c *resourceClient) Namespace(ns string) ResourceInterface {
	in := *c
	in.namespace = ns
	return &in
}

// completeRequest completes the request r for the object with a name, or for the collection if the
// name is empty.
func (c *resourceClient) completeRequest(r *rest.Request, accept, name string, options runtime.Object, subresources ...string) *rest.Request {
	return r.AbsPath(respath.Of(c.resource, c.namespace, name, subresources...)...).SetHeader("Accept", accept).
		SpecificallyVersionedParams(options, metav1.ParameterCodec, version)
}

// object sends a request whose response is an object.
func object(ctx context.Context, r *rest.Request) (*metav1.PartialObjectMetadata, error) {
	obj := &metav1.PartialObjectMetadata{}
	if err := r.Do(ctx).Into(obj); err != nil {
		return nil, err
	}
	// clear the kind: some servers send the kind PartialObjectMetadata, and others the object's
	// kind
	obj.TypeMeta = metav1.TypeMeta{}
	return obj, nil
}

// Delete implements ResourceInterface.
func (c *resourceClient) Delete(ctx context.Context, name string, opts metav1.DeleteOptions, subresources ...string) error {
	if err := respath.Check(c.namespace, name); err != nil {
		return err
	}
	body, err := respath.Body(opts)
	if err != nil {
		return err
	}
	// The body is JSON, because an aggregated server may not know the protobuf form of the options.
	return c.client.Delete().AbsPath(respath.Of(c.resource, c.namespace, name, subresources...)...).
		SetHeader("Content-Type", runtime.ContentTypeJSON).Body(body).Do(ctx).Error()
}

// DeleteCollection implements ResourceInterface.
func (c *resourceClient) DeleteCollection(ctx context.Context, opts metav1.DeleteOptions, listOptions metav1.ListOptions) error {
	if err := respath.CheckCollection(c.namespace, ""); err != nil {
		return err
	}
	body, err := respath.Body(opts)
	if err != nil {
		return err
	}
	return c.client.Delete().AbsPath(respath.Of(c.resource, c.namespace, "")...).
		SetHeader("Content-Type", runtime.ContentTypeJSON).Body(body).
		SpecificallyVersionedParams(&listOptions, metav1.ParameterCodec, version).Do(ctx).Error()
}

// Get implements ResourceInterface.
func (c *resourceClient) Get(ctx context.Context, name string, opts metav1.GetOptions, subresources ...string) (*metav1.PartialObjectMetadata, error) {
	if err := respath.Check(c.namespace, name); err != nil {
		return nil, err
	}
	return object(ctx, c.completeRequest(c.client.Get(), acceptObject, name, &opts, subresources...))
}

// List implements ResourceInterface.
func (c *resourceClient) List(ctx context.Context, opts metav1.ListOptions) (*metav1.PartialObjectMetadataList, error) {
	if err := respath.CheckCollection(c.namespace, ""); err != nil {
		return nil, err
	}
	list := &metav1.PartialObjectMetadataList{}
	if err := c.completeRequest(c.client.Get(), acceptList, "", &opts).Do(ctx).Into(list); err != nil {
		return nil, err
	}
	return list, nil
}

// Watch implements ResourceInterface.
func (c *resourceClient) Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
	if err := respath.CheckCollection(c.namespace, ""); err != nil {
		return nil, err
	}
	opts.Watch = true
	return c.completeRequest(c.client.Get(), acceptObject, "", &opts).Timeout(timeout(opts)).Watch(ctx)
}

// timeout returns the server-side timeout of a watch. It is sent as the parameter timeout, in
// addition to timeoutSeconds. The client does not enforce it.
func timeout(opts metav1.ListOptions) time.Duration {
	if opts.TimeoutSeconds == nil {
		return 0
	}
	return time.Duration(*opts.TimeoutSeconds) * time.Second
}

// Patch implements ResourceInterface.
func (c *resourceClient) Patch(ctx context.Context, name string, pt types.PatchType, data []byte, opts metav1.PatchOptions, subresources ...string) (*metav1.PartialObjectMetadata, error) {
	if err := respath.Check(c.namespace, name); err != nil {
		return nil, err
	}
	return object(ctx, c.completeRequest(c.client.Patch(pt), acceptObject, name, &opts, subresources...).Body(data))
}

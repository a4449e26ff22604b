package dynamic

import (
	"net/http"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

// DynamicClient implements Interface with a REST client.
type DynamicClient struct{ client rest.Interface }

var _ Interface = &DynamicClient{}

// ConfigFor returns a copy of a configuration, with what a dynamic client needs: JSON, decoded as unstructured objects.
func ConfigFor(inConfig *rest.Config) *rest.Config {
	config := rest.CopyConfig(inConfig)
	config.ContentType = runtime.ContentTypeJSON
	config.AcceptContentTypes = runtime.ContentTypeJSON
	config.NegotiatedSerializer = newSerializer()
	if config.UserAgent == "" {
		config.UserAgent = rest.DefaultKubernetesUserAgent()
	}
	return config
}

// New returns a client of a REST client, whose serializer must decode into unstructured objects, as ConfigFor's does.
func New(c rest.Interface) *DynamicClient { return &DynamicClient{client: c} }

// NewForConfig returns a client for a server.
func NewForConfig(inConfig *rest.Config) (*DynamicClient, error) {
	config := ConfigFor(inConfig)
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	return NewForConfigAndClient(config, httpClient)
}

// NewForConfigAndClient returns a client for a server that uses an http.Client; the configuration's transport is not looked at.
func NewForConfigAndClient(inConfig *rest.Config, h *http.Client) (*DynamicClient, error) {
	config := ConfigFor(inConfig)
	config.GroupVersion = &schema.GroupVersion{}
	config.APIPath = "/paths-are-absolute" // each request has its own
	client, err := rest.RESTClientForConfigAndClient(config, h)
	if err != nil {
		return nil, err
	}
	return New(client), nil
}

// NewForConfigOrDie is NewForConfig, and panics where that returns an error.
func NewForConfigOrDie(c *rest.Config) *DynamicClient {
	client, err := NewForConfig(c)
	if err != nil {
		panic(err)
	}
	return client
}

// Resource implements Interface.
func (c *DynamicClient) Resource(resource schema.GroupVersionResource) NamespaceableResourceInterface {
	return &resourceClient{client: c.client, resource: resource}
}

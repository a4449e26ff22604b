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

// ConfigFor returns a copy of a configuration for a dynamic client, which uses JSON and decodes it
// into unstructured objects.
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

// New returns a client that sends its requests through c. The serializer of c must decode into
// unstructured objects, as ConfigFor's does.
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

// NewForConfigAndClient returns a client that uses the http.Client h. It ignores the transport of
// the configuration.
func NewForConfigAndClient(inConfig *rest.Config, h *http.Client) (*DynamicClient, error) {
	config := ConfigFor(inConfig)
	config.GroupVersion = &schema.GroupVersion{}
	config.APIPath = "/paths-are-absolute" // each request sets its own path
	client, err := rest.RESTClientForConfigAndClient(config, h)
	if err != nil {
		return nil, err
	}
	return New(client), nil
}

// NewForConfigOrDie is NewForConfig, but panics on an error.
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

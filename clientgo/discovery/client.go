package discovery

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/version"

	"k8s.io/client-go/internal/codec"
	"k8s.io/client-go/rest"
)

const (
	// timeout bounds a request if the configuration sets no timeout.
	timeout = 32 * time.Second

	// burst is how many requests a client may send at once if the configuration sets no burst. A
	// legacy server gets one request for each group version, and a busy cluster has a hundred
	// versions.
	burst = 300
)

// DiscoveryClient sends requests on each call and caches nothing. It is safe for concurrent use as
// long as its fields are not changed.
type DiscoveryClient struct {
	restClient rest.Interface

	// LegacyPrefix is the path of the core group. If it is empty, the resources of "v1" are below
	// /apis.
	LegacyPrefix string
	// UseLegacyDiscovery requests only the legacy documents.
	UseLegacyDiscovery bool
	// NoPeerDiscovery requests only the resources of the server itself, and not the resources of
	// the other servers of a cluster.
	NoPeerDiscovery bool
}

var (
	_ DiscoveryInterfaces                     = &DiscoveryClient{}
	_ AggregatedDiscoveryInterface            = &DiscoveryClient{}
	_ AggregatedDiscoveryInterfaceWithContext = &DiscoveryClient{}
)

// NewDiscoveryClient returns a client that sends its requests through c. c must decode the types of
// metav1.
func NewDiscoveryClient(c rest.Interface) *DiscoveryClient {
	return &DiscoveryClient{restClient: c, LegacyPrefix: "/api"}
}

// NewDiscoveryClientForConfig returns a client for a server. By default a request takes at most 32
// seconds, and 300 requests may be sent at once. The configuration can set both limits.
func NewDiscoveryClientForConfig(c *rest.Config) (*DiscoveryClient, error) {
	config, err := configFor(c)
	if err != nil {
		return nil, err
	}
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	return NewDiscoveryClientForConfigAndClient(config, httpClient)
}

// NewDiscoveryClientForConfigAndClient is NewDiscoveryClientForConfig with a given HTTP client.
// httpClient overrides the connection settings of the configuration.
func NewDiscoveryClientForConfigAndClient(c *rest.Config, httpClient *http.Client) (*DiscoveryClient, error) {
	config, err := configFor(c)
	if err != nil {
		return nil, err
	}
	client, err := rest.UnversionedRESTClientForConfigAndClient(config, httpClient)
	if err != nil {
		return nil, err
	}
	return NewDiscoveryClient(client), nil
}

// NewDiscoveryClientForConfigOrDie is NewDiscoveryClientForConfig, but panics on an error.
func NewDiscoveryClientForConfigOrDie(c *rest.Config) *DiscoveryClient {
	client, err := NewDiscoveryClientForConfig(c)
	if err != nil {
		panic(err)
	}
	return client
}

// decoder decodes the discovery types by itself. For any other type, the caller must pass an object
// to decode into. Its scheme has only the types of discovery: a scheme with the types of all groups
// would be linked into every program that uses discovery. The scheme is made on first use, because
// each clientset has a discovery client.
type decoder struct{}

var discoveryScheme = sync.OnceValue(func() *runtime.Scheme {
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	return scheme
})

var deserializer = sync.OnceValue(func() runtime.Decoder { return codec.New(discoveryScheme()).Deserializer() })

// Decode implements runtime.Decoder. If the kind of the decoded object differs from the kind of the
// argument into, Decode converts the object. The types of discovery have no conversions, so for
// them Decode returns an error.
func (decoder) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	object, kind, err := deserializer().Decode(data, defaults, into)
	if err != nil || into == nil || object == into {
		return object, kind, err
	}
	if err := discoveryScheme().Convert(object, into, nil); err != nil {
		return nil, kind, err
	}
	return into, kind, nil
}

// configFor returns a copy of a configuration with the settings that a discovery client needs.
func configFor(c *rest.Config) (*rest.Config, error) {
	config := rest.CopyConfig(c)
	config.APIPath = ""
	config.GroupVersion = nil
	if config.Timeout == 0 {
		config.Timeout = timeout
	}
	if config.Burst == 0 {
		config.Burst = burst
	}
	serializerOf := runtime.NoopEncoder{Decoder: decoder{}}
	config.NegotiatedSerializer = serializer.NegotiatedSerializerWrapper(runtime.SerializerInfo{Serializer: serializerOf})
	return config, rest.SetKubernetesDefaults(config)
}

// RESTClient returns the client that sends the requests. It returns nil for a nil DiscoveryClient.
func (d *DiscoveryClient) RESTClient() rest.Interface {
	if d == nil {
		return nil
	}
	return d.restClient
}

// WithLegacy returns a copy that requests only the legacy documents.
func (d *DiscoveryClient) WithLegacy() DiscoveryInterface { return d.withLegacy() }

// WithLegacyWithContext is WithLegacy.
func (d *DiscoveryClient) WithLegacyWithContext(context.Context) DiscoveryInterfaceWithContext {
	return d.withLegacy()
}

func (d *DiscoveryClient) withLegacy() *DiscoveryClient {
	client := *d
	client.UseLegacyDiscovery = true
	return &client
}

// ServerVersion is ServerVersionWithContext without a context.
func (d *DiscoveryClient) ServerVersion() (*version.Info, error) {
	return d.ServerVersionWithContext(context.Background())
}

// ServerVersionWithContext returns the release that the server runs.
func (d *DiscoveryClient) ServerVersionWithContext(ctx context.Context) (*version.Info, error) {
	body, err := d.restClient.Get().AbsPath("/version").Do(ctx).Raw()
	if err != nil {
		return nil, err
	}
	var info version.Info
	if err := json.Unmarshal(body, &info); err != nil {
		return nil, fmt.Errorf("unable to parse the server version: %w", err)
	}
	return &info, nil
}

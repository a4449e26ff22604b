package rest

import (
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"

	"k8s.io/client-go/features"
	"k8s.io/client-go/tools/metrics"
	"k8s.io/client-go/util/flowcontrol"
)

// Interface has the methods of a REST client that typed clients use.
type Interface interface {
	GetRateLimiter() flowcontrol.RateLimiter
	Verb(verb string) *Request
	Post() *Request
	Put() *Request
	Patch(pt types.PatchType) *Request
	Get() *Request
	Delete() *Request
	APIVersion() schema.GroupVersion
}

// ClientContentConfig holds the media types that a client sends and accepts.
type ClientContentConfig struct {
	// AcceptContentTypes is the Accept header. Defaults to ContentType.
	AcceptContentTypes string
	// ContentType is the media type of request bodies. Defaults to "application/json".
	ContentType string
	// GroupVersion is the version of the API.
	GroupVersion schema.GroupVersion
	// Negotiator returns encoders and decoders of media types.
	Negotiator runtime.ClientNegotiator
}

// RESTClient makes requests to the resources below one path of a server.
type RESTClient struct {
	// Client sends requests. Defaults to http.DefaultClient.
	Client *http.Client

	base           *url.URL // always ends with a slash
	versioned      string   // path of the API version
	content        ClientContentConfig
	noContentType  bool // ContentType was not configured
	limiter        flowcontrol.RateLimiter
	warningHandler WarningHandlerWithContext
	newBackoff     func() BackoffManagerWithContext
	newRetryPolicy func(maxRetries int) WithRetry
	sharing        Sharing
}

const jsonType = "application/json"

// NewRESTClient returns a client for the paths below baseURL and versionedAPIPath.
func NewRESTClient(baseURL *url.URL, versionedAPIPath string, config ClientContentConfig, rateLimiter flowcontrol.RateLimiter, client *http.Client) (*RESTClient, error) {
	base := *baseURL
	if !strings.HasSuffix(base.Path, "/") {
		base.Path += "/"
	}
	base.RawQuery, base.Fragment = "", ""
	content, none := config.withoutCBOR().withMediaTypes()
	return &RESTClient{
		Client: client, base: &base, versioned: versionedAPIPath, content: content, noContentType: none, limiter: rateLimiter,
		newBackoff: environmentBackoff, newRetryPolicy: func(n int) WithRetry { return &retryPolicy{maxRetries: n} },
	}, nil
}

// withoutCBOR returns c. If the feature gate ClientsAllowCBOR is off, JSON replaces CBOR in it.
func (c ClientContentConfig) withoutCBOR() ClientContentConfig {
	if features.FeatureGates().Enabled(features.ClientsAllowCBOR) {
		return c
	}
	if media, _, err := mime.ParseMediaType(c.ContentType); err == nil && media == runtime.ContentTypeCBOR {
		c.ContentType = jsonType
	}
	c.AcceptContentTypes = replaceCBOR(c.AcceptContentTypes)
	return c
}

// withMediaTypes returns c with the media types to send and accept. The result none reports whether
// c has no ContentType.
func (c ClientContentConfig) withMediaTypes() (content ClientContentConfig, none bool) {
	if none = c.ContentType == ""; none {
		c.ContentType = jsonType
	}
	return c, none
}

// replaceCBOR returns a list of media types in which JSON replaces CBOR.
func replaceCBOR(types string) string {
	if !strings.Contains(types, runtime.ContentTypeCBOR) {
		return types
	}
	clauses := strings.Split(types, ",")
	for i, clause := range clauses {
		media, params, more := strings.Cut(clause, ";")
		if strings.TrimSpace(media) != runtime.ContentTypeCBOR {
			continue
		}
		if clauses[i] = jsonType; more {
			clauses[i] += ";" + params
		}
	}
	return strings.Join(clauses, ",")
}

// environmentBackoff returns the back-off that KUBE_CLIENT_BACKOFF_BASE and
// KUBE_CLIENT_BACKOFF_DURATION configure, in seconds. If either variable is missing or not a
// number, there is no back-off. As in client-go, each request has its own back-off. So the waits
// grow only between the attempts of one request; failures of other requests do not count.
func environmentBackoff() BackoffManagerWithContext {
	base, err1 := strconv.ParseInt(os.Getenv("KUBE_CLIENT_BACKOFF_BASE"), 10, 64)
	longest, err2 := strconv.ParseInt(os.Getenv("KUBE_CLIENT_BACKOFF_DURATION"), 10, 64)
	if err1 != nil || err2 != nil {
		return &NoBackoff{}
	}
	return &URLBackoff{Backoff: flowcontrol.NewBackOff(time.Duration(base)*time.Second, time.Duration(longest)*time.Second)}
}

// RESTClientFor returns a client for the API version in a Config.
func RESTClientFor(config *Config) (*RESTClient, error) {
	if err := config.complete(true); err != nil {
		return nil, err
	}
	if _, _, err := DefaultServerUrlFor(config); err != nil { // before a transport is made
		return nil, err
	}
	client, err := HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	return RESTClientForConfigAndClient(config, client)
}

// RESTClientForConfigAndClient is RESTClientFor with a given HTTP client. httpClient overrides the
// connection settings of config.
func RESTClientForConfigAndClient(config *Config, httpClient *http.Client) (*RESTClient, error) {
	if err := config.complete(true); err != nil {
		return nil, err
	}
	return newClient(config, httpClient)
}

// UnversionedRESTClientFor is RESTClientFor for a Config that may lack an API version.
func UnversionedRESTClientFor(config *Config) (*RESTClient, error) {
	if err := config.complete(false); err != nil {
		return nil, err
	}
	if _, _, err := DefaultServerUrlFor(config); err != nil {
		return nil, err
	}
	client, err := HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	return UnversionedRESTClientForConfigAndClient(config, client)
}

// UnversionedRESTClientForConfigAndClient is RESTClientForConfigAndClient for a Config that may
// lack an API version.
func UnversionedRESTClientForConfigAndClient(config *Config, httpClient *http.Client) (*RESTClient, error) {
	if err := config.complete(false); err != nil {
		return nil, err
	}
	return newClient(config, httpClient)
}

// complete returns an error if the Config lacks a field that a client needs.
func (c *Config) complete(versioned bool) error {
	if versioned && c.GroupVersion == nil {
		return fmt.Errorf("GroupVersion is required when initializing a RESTClient")
	}
	if c.NegotiatedSerializer == nil {
		return fmt.Errorf("NegotiatedSerializer is required when initializing a RESTClient")
	}
	return nil
}

func newClient(config *Config, httpClient *http.Client) (*RESTClient, error) {
	if err := config.Sharing.validate(); err != nil {
		return nil, fmt.Errorf("Config.Sharing: %w", err)
	}
	base, versioned, err := DefaultServerUrlFor(config)
	if err != nil {
		return nil, err
	}
	version := metav1.SchemeGroupVersion
	if config.GroupVersion != nil {
		version = *config.GroupVersion
	}
	metrics.EnsureRegistered()
	client, err := NewRESTClient(base, versioned, ClientContentConfig{
		AcceptContentTypes: config.AcceptContentTypes, ContentType: config.ContentType, GroupVersion: version,
		Negotiator: runtime.NewClientNegotiator(config.NegotiatedSerializer, version),
	}, config.limiter(), httpClient)
	if err != nil {
		return nil, err
	}
	client.sharing = config.Sharing
	client.warningHandler = config.WarningHandlerWithContext
	if client.warningHandler == nil {
		client.warningHandler = adaptWarningHandler(config.WarningHandler)
	}
	return client, nil
}

// limiter returns the rate limiter of a Config, or nil if requests are not limited.
func (c *Config) limiter() flowcontrol.RateLimiter {
	if c.RateLimiter != nil {
		return c.RateLimiter
	}
	qps, burst := c.QPS, c.Burst
	if qps == 0 {
		qps = DefaultQPS
	}
	if burst == 0 {
		burst = DefaultBurst
	}
	if qps < 0 {
		return nil
	}
	return flowcontrol.NewTokenBucketRateLimiter(qps, burst)
}

// CodecFactoryForGeneratedClient returns codecs unchanged. In client-go it adds CBOR, which this
// module does not support.
func CodecFactoryForGeneratedClient(scheme *runtime.Scheme, codecs serializer.CodecFactory) serializer.CodecFactory {
	return codecs
}

// GetRateLimiter returns the limiter, or nil if requests are not limited. For a nil client it
// returns nil.
func (c *RESTClient) GetRateLimiter() flowcontrol.RateLimiter {
	if c == nil {
		return nil
	}
	return c.limiter
}

// Verb begins a request.
func (c *RESTClient) Verb(verb string) *Request { return NewRequest(c).Verb(verb) }

// Post begins a POST.
func (c *RESTClient) Post() *Request { return c.Verb("POST") }

// Put begins a PUT.
func (c *RESTClient) Put() *Request { return c.Verb("PUT") }

// Patch begins a PATCH whose body is of type pt.
func (c *RESTClient) Patch(pt types.PatchType) *Request {
	return c.Verb("PATCH").SetHeader("Content-Type", string(pt))
}

// Get begins a GET.
func (c *RESTClient) Get() *Request { return c.Verb("GET") }

// Delete begins a DELETE.
func (c *RESTClient) Delete() *Request { return c.Verb("DELETE") }

// APIVersion returns the version of the API.
func (c *RESTClient) APIVersion() schema.GroupVersion { return c.content.GroupVersion }

package rest

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	apiruntime "k8s.io/apimachinery/pkg/runtime"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/transport"
	"k8s.io/client-go/util/flowcontrol"

	"k8s.io/client-go/pkg/version"
)

// The default rate limits of a Config.
const (
	DefaultQPS   float32 = 5.0
	DefaultBurst int     = 10
)

// Config holds the address of an API server, the credentials to use, and the settings of the
// connection. Printing a *Config hides its secrets. Printing a Config value shows the secrets, as
// in client-go.
type Config struct {
	// Host is a host, a host with a port, or a URL. The path of the URL is prepended to the path of
	// the API.
	Host string
	// APIPath is the path of the API, such as "/apis".
	APIPath string

	// ContentConfig holds the media types and codecs.
	ContentConfig

	// Username and Password are sent as basic authentication.
	Username string
	Password string `datapolicy:"password"`

	// BearerToken is sent in the Authorization header.
	BearerToken string `datapolicy:"token"`

	// BearerTokenFile is a file with the token. The file is read again every minute. The token that
	// was read last takes precedence over BearerToken.
	BearerTokenFile string

	// Impersonate is the user on whose behalf requests are made.
	Impersonate ImpersonationConfig

	// AuthProvider names a plugin registered with RegisterAuthProviderPlugin.
	AuthProvider *clientcmdapi.AuthProviderConfig

	// AuthConfigPersister stores changes of the configuration of AuthProvider.
	AuthConfigPersister AuthProviderConfigPersister

	// ExecProvider is a command that prints credentials.
	ExecProvider *clientcmdapi.ExecConfig

	// TLSClientConfig holds the CA bundle, and optionally a client certificate.
	TLSClientConfig

	// UserAgent is the User-Agent header.
	UserAgent string

	// DisableCompression keeps the client from requesting compressed responses.
	DisableCompression bool

	// Transport replaces the transport that would be made for this Config. It cannot be combined
	// with a client certificate.
	Transport http.RoundTripper
	// WrapTransport wraps the transport. Set it with Wrap.
	WrapTransport transport.WrapperFunc

	// QPS is the number of requests per second. Defaults to DefaultQPS. If QPS is negative, only
	// RateLimiter limits requests.
	QPS float32

	// Burst is the number of requests that may be sent at once. Defaults to DefaultBurst.
	Burst int

	// RateLimiter replaces QPS and Burst.
	RateLimiter flowcontrol.RateLimiter

	// WarningHandler receives warnings of servers. WarningHandlerWithContext takes precedence. If
	// both are nil, the handler of SetDefaultWarningHandler receives them.
	WarningHandler WarningHandler

	// WarningHandlerWithContext receives warnings of servers, with the context of the request.
	WarningHandlerWithContext WarningHandlerWithContext

	// Timeout bounds a request, including the reading of the response. Zero means no timeout.
	Timeout time.Duration

	// Dial opens connections.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)

	// Proxy returns the proxy for a request, or nil. Defaults to http.ProxyFromEnvironment.
	Proxy func(*http.Request) (*url.URL, error)

	// Sharing selects which parts objects share in the caches that are filled through this Config.
	// Defaults to the environment's setting, see ShareByDefault. client-go has no such field.
	Sharing Sharing
}

// ImpersonationConfig is a user on whose behalf requests are made.
type ImpersonationConfig struct {
	UserName string
	UID      string
	Groups   []string
	// Extra holds further attributes of the user, for authorizers.
	Extra map[string][]string
}

// TLSClientConfig holds the CA bundle and an optional client certificate. Data takes precedence
// over files.
type TLSClientConfig struct {
	// Insecure accepts any certificate of the server.
	Insecure bool
	// ServerName is the name expected in the server's certificate, instead of the host.
	ServerName string

	CertFile string
	KeyFile  string
	CAFile   string

	CertData []byte
	KeyData  []byte `datapolicy:"security-key"`
	CAData   []byte

	// NextProtos lists the application protocols in order of preference.
	NextProtos []string
}

// DeepCopyInto copies *c to *out.
func (c *TLSClientConfig) DeepCopyInto(out *TLSClientConfig) {
	*out = *c
	out.CertData, out.KeyData, out.CAData = copied(c.CertData), copied(c.KeyData), copied(c.CAData)
	out.NextProtos = copied(c.NextProtos)
}

// DeepCopy returns a copy, or nil if c is nil.
func (c *TLSClientConfig) DeepCopy() *TLSClientConfig {
	if c == nil {
		return nil
	}
	out := new(TLSClientConfig)
	c.DeepCopyInto(out)
	return out
}

// copied returns a copy of s. The copy is nil if and only if s is nil.
func copied[E any](s []E) []E {
	if s == nil {
		return nil
	}
	return append(make([]E, 0, len(s)), s...)
}

// ContentConfig holds the media types and codecs of a client.
type ContentConfig struct {
	// AcceptContentTypes is the Accept header. Defaults to ContentType.
	AcceptContentTypes string
	// ContentType is the media type of request bodies. Defaults to "application/json".
	ContentType string
	// GroupVersion is the version of the API. Required by RESTClientFor.
	GroupVersion *schema.GroupVersion
	// NegotiatedSerializer encodes and decodes objects. Required.
	NegotiatedSerializer apiruntime.NegotiatedSerializer
}

// SetKubernetesDefaults sets the user agent of a Config that has none.
func SetKubernetesDefaults(config *Config) error {
	if config.UserAgent == "" {
		config.UserAgent = DefaultKubernetesUserAgent()
	}
	return nil
}

// DefaultKubernetesUserAgent returns the program's name, version and platform.
func DefaultKubernetesUserAgent() string {
	info := version.Get()
	number, _, _ := strings.Cut(orUnknown(info.GitVersion), "-")
	commit := orUnknown(info.GitCommit)
	if len(commit) > 7 {
		commit = commit[:7]
	}
	program := "unknown"
	if len(os.Args) > 0 && os.Args[0] != "" {
		program = filepath.Base(os.Args[0])
	}
	return program + "/" + number + " (" + runtime.GOOS + "/" + runtime.GOARCH + ") kubernetes/" + commit
}

func orUnknown(text string) string {
	if text == "" {
		return "unknown"
	}
	return text
}

// AddUserAgent sets the user agent to the default user agent followed by userAgent, and returns
// config.
func AddUserAgent(config *Config, userAgent string) *Config {
	config.UserAgent = DefaultKubernetesUserAgent() + "/" + userAgent
	return config
}

// CopyConfig returns a copy of a Config. The copy shares the values of fields with interface and
// function types, such as Transport and RateLimiter, with the original.
func CopyConfig(config *Config) *Config {
	out := *config
	config.TLSClientConfig.DeepCopyInto(&out.TLSClientConfig)
	out.Impersonate = ImpersonationConfig{
		UserName: config.Impersonate.UserName, UID: config.Impersonate.UID,
		Groups: config.Impersonate.Groups, Extra: config.Impersonate.Extra,
	}
	if config.ExecProvider != nil {
		out.ExecProvider = config.ExecProvider.DeepCopy()
	}
	return &out
}

// AnonymousClientConfig returns a copy without credentials. The copy has no Transport and
// WrapTransport either, because these may hold credentials.
func AnonymousClientConfig(config *Config) *Config {
	return &Config{
		Host: config.Host, APIPath: config.APIPath, ContentConfig: config.ContentConfig,
		TLSClientConfig: TLSClientConfig{
			Insecure: config.Insecure, ServerName: config.ServerName, CAFile: config.CAFile, CAData: config.CAData, NextProtos: config.NextProtos,
		},
		RateLimiter: config.RateLimiter, WarningHandler: config.WarningHandler, WarningHandlerWithContext: config.WarningHandlerWithContext,
		UserAgent: config.UserAgent, DisableCompression: config.DisableCompression, QPS: config.QPS, Burst: config.Burst,
		Timeout: config.Timeout, Dial: config.Dial, Proxy: config.Proxy, Sharing: config.Sharing,
	}
}

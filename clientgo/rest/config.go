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

// The limit of requests where a Config says nothing.
const (
	DefaultQPS   float32 = 5.0
	DefaultBurst int     = 10
)

// Config says where an API server is, as whom to come, and how to talk to it. Printed by its pointer, as a text, it has no secrets. A Config that is
// printed as a value shows them, as client-go's does.
type Config struct {
	// Host is a host, a host with a port, or a URL, whose path goes before that of the API.
	Host string
	// APIPath is the path of the API, such as "/apis".
	APIPath string

	// ContentConfig says in which form objects are sent.
	ContentConfig

	// Username and Password are sent as basic authentication.
	Username string
	Password string `datapolicy:"password"`

	// BearerToken is sent as authorization.
	BearerToken string `datapolicy:"token"`

	// BearerTokenFile has the token, and is read again every minute. What was read last goes before BearerToken.
	BearerTokenFile string

	// Impersonate is the user on whose behalf requests are made.
	Impersonate ImpersonationConfig

	// AuthProvider names a plugin of RegisterAuthProviderPlugin.
	AuthProvider *clientcmdapi.AuthProviderConfig

	// AuthConfigPersister keeps what AuthProvider wants to be kept.
	AuthConfigPersister AuthProviderConfigPersister

	// ExecProvider is a command that prints credentials.
	ExecProvider *clientcmdapi.ExecConfig

	// TLSClientConfig says whom to trust, and may have a client certificate.
	TLSClientConfig

	// UserAgent is the header of that name.
	UserAgent string

	// DisableCompression keeps the client from asking for compressed answers.
	DisableCompression bool

	// Transport takes the place of connections made for this Config. It excludes a client certificate.
	Transport http.RoundTripper
	// WrapTransport is put around the connections. Use Wrap.
	WrapTransport transport.WrapperFunc

	// QPS is the number of requests a second. Defaults to DefaultQPS. If negative, there is no limit but RateLimiter.
	QPS float32

	// Burst is the number of requests that may be sent at once. Defaults to DefaultBurst.
	Burst int

	// RateLimiter takes the place of QPS and Burst.
	RateLimiter flowcontrol.RateLimiter

	// WarningHandler gets warnings of servers. WarningHandlerWithContext goes before it; SetDefaultWarningHandler says what
	// happens without either.
	WarningHandler WarningHandler

	// WarningHandlerWithContext gets warnings of servers, with the context of the request.
	WarningHandlerWithContext WarningHandlerWithContext

	// Timeout bounds a request with the reading of its answer. Zero is no bound.
	Timeout time.Duration

	// Dial opens connections.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)

	// Proxy returns the proxy for a request, or nil. Defaults to http.ProxyFromEnvironment.
	Proxy func(*http.Request) (*url.URL, error)

	// Sharing says what objects may have in common in the caches that are filled through this Config. Defaults to what the
	// environment says. client-go has no such field.
	Sharing Sharing
}

// ImpersonationConfig is a user on whose behalf requests are made.
type ImpersonationConfig struct {
	UserName string
	UID      string
	Groups   []string
	// Extra has what else authorisers look at.
	Extra map[string][]string
}

// TLSClientConfig says whom to trust, and with which certificate to come. Data goes before files.
type TLSClientConfig struct {
	// Insecure accepts any certificate of the server.
	Insecure bool
	// ServerName is expected in the server's certificate, in place of the host.
	ServerName string

	CertFile string
	KeyFile  string
	CAFile   string

	CertData []byte
	KeyData  []byte `datapolicy:"security-key"`
	CAData   []byte

	// NextProtos are the application protocols, the preferred one first.
	NextProtos []string
}

// DeepCopyInto copies c to out.
func (c *TLSClientConfig) DeepCopyInto(out *TLSClientConfig) {
	*out = *c
	out.CertData, out.KeyData, out.CAData = copied(c.CertData), copied(c.KeyData), copied(c.CAData)
	out.NextProtos = copied(c.NextProtos)
}

// DeepCopy returns a copy, or nil of nil.
func (c *TLSClientConfig) DeepCopy() *TLSClientConfig {
	if c == nil {
		return nil
	}
	out := new(TLSClientConfig)
	c.DeepCopyInto(out)
	return out
}

// copied is a copy that is nil only if s is.
func copied[E any](s []E) []E {
	if s == nil {
		return nil
	}
	return append(make([]E, 0, len(s)), s...)
}

// ContentConfig says in which form objects are sent.
type ContentConfig struct {
	// AcceptContentTypes is the header Accept. Defaults to ContentType.
	AcceptContentTypes string
	// ContentType is the form of objects that are sent. Defaults to "application/json".
	ContentType string
	// GroupVersion is the version of the API. RESTClientFor needs one.
	GroupVersion *schema.GroupVersion
	// NegotiatedSerializer encodes and decodes objects. A client needs one.
	NegotiatedSerializer apiruntime.NegotiatedSerializer
}

// SetKubernetesDefaults sets what a Config lacks for talking to Kubernetes: the user agent.
func SetKubernetesDefaults(config *Config) error {
	if config.UserAgent == "" {
		config.UserAgent = DefaultKubernetesUserAgent()
	}
	return nil
}

// DefaultKubernetesUserAgent names the program, its version, and where it runs.
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

// AddUserAgent adds a part to the user agent, and returns config.
func AddUserAgent(config *Config, userAgent string) *Config {
	config.UserAgent = DefaultKubernetesUserAgent() + "/" + userAgent
	return config
}

// CopyConfig returns a copy. What Transport, RateLimiter and the other interfaces and functions lead to is in both.
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

// AnonymousClientConfig returns a copy without credentials, and without transports, which may have some.
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

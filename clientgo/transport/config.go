package transport

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/url"
)

// Config holds the connection settings and the credentials for a server.
type Config struct {
	// UserAgent is the User-Agent header of requests that do not set this header.
	UserAgent string

	// TLS holds the CA bundle, and optionally a client certificate.
	TLS TLSConfig

	// Username and Password are sent as basic authentication.
	Username string
	Password string `datapolicy:"password"`

	// BearerToken is sent with requests that have no Authorization header.
	BearerToken string `datapolicy:"token"`

	// BearerTokenFile is a file with the token. The file is read again every minute. The token that
	// was read last takes precedence over BearerToken.
	BearerTokenFile string

	// Impersonate is the user on whose behalf requests are made.
	Impersonate ImpersonationConfig

	// DisableCompression keeps clients from requesting compressed responses.
	DisableCompression bool

	// Transport replaces the transport that this package would make. It cannot be combined with
	// certificates, a CA bundle or Insecure in TLS.
	Transport http.RoundTripper

	// WrapTransport wraps the transport. Round trippers that add credentials wrap the result of
	// WrapTransport. Set it with Wrap.
	WrapTransport WrapperFunc

	// DialHolder has the function that opens connections. Two configurations share connections only
	// if they have the same holder.
	DialHolder *DialHolder

	// Proxy returns the proxy for a request, or nil. Defaults to http.ProxyFromEnvironment. A
	// configuration with its own function does not share connections.
	Proxy func(*http.Request) (*url.URL, error)
}

// DialHolder holds a function. Holders can be compared, while functions cannot.
type DialHolder struct {
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// GetCertHolder holds a function. Holders can be compared, while functions cannot.
type GetCertHolder struct {
	GetCert func() (*tls.Certificate, error)
}

// ImpersonationConfig is a user on whose behalf requests are made.
type ImpersonationConfig struct {
	UserName string
	UID      string
	Groups   []string
	Extra    map[string][]string
}

func (i *ImpersonationConfig) isSet() bool {
	return i.UserName != "" || i.UID != "" || len(i.Groups) > 0 || len(i.Extra) > 0
}

// TLSConfig holds the CA bundle and an optional client certificate. Data takes precedence over
// files.
type TLSConfig struct {
	CAFile         string
	CertFile       string
	KeyFile        string
	ReloadTLSFiles bool // the certificate was given as files, which are read again periodically
	ReloadCAFiles  bool // CAFile is read again periodically

	Insecure   bool   // accept any certificate of the server
	ServerName string // expected in the server's certificate, instead of the host

	CAData   []byte
	CertData []byte
	KeyData  []byte

	// NextProtos lists the application protocols in order of preference.
	NextProtos []string

	// GetCertHolder has a function that returns a client certificate. It is used if there is no
	// certificate in data or files.
	GetCertHolder *GetCertHolder
}

// HasCA reports whether there is a CA bundle.
func (c *Config) HasCA() bool { return len(c.TLS.CAData) > 0 || c.TLS.CAFile != "" }

// HasBasicAuth reports whether Username is set.
func (c *Config) HasBasicAuth() bool { return c.Username != "" }

// HasTokenAuth reports whether there is a token or a token file.
func (c *Config) HasTokenAuth() bool { return c.BearerToken != "" || c.BearerTokenFile != "" }

// HasCertAuth reports whether both a certificate and a key are set, as data or as files.
func (c *Config) HasCertAuth() bool {
	return (len(c.TLS.CertData) > 0 || c.TLS.CertFile != "") && (len(c.TLS.KeyData) > 0 || c.TLS.KeyFile != "")
}

// HasCertCallback reports whether the certificate comes from a function.
func (c *Config) HasCertCallback() bool { return c.TLS.GetCertHolder != nil }

// Wrap adds a wrapper outside of the existing wrappers.
func (c *Config) Wrap(fn WrapperFunc) { c.WrapTransport = Wrappers(c.WrapTransport, fn) }

package transport

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/url"
)

// Config says how to connect to a server, and as whom.
type Config struct {
	// UserAgent is the header of that name, for requests that have none.
	UserAgent string

	// TLS says whom to trust, and may have a client certificate.
	TLS TLSConfig

	// Username and Password are sent as basic authentication.
	Username string
	Password string `datapolicy:"password"`

	// BearerToken is sent with requests that have no authorization.
	BearerToken string `datapolicy:"token"`

	// BearerTokenFile is a file with the token, which is read again every minute. What was read last goes before BearerToken.
	BearerTokenFile string

	// Impersonate is the user on whose behalf requests are made.
	Impersonate ImpersonationConfig

	// DisableCompression keeps clients from asking for compressed answers.
	DisableCompression bool

	// Transport takes the place of connections made here. It excludes certificates, authorities and Insecure in TLS.
	Transport http.RoundTripper

	// WrapTransport is called with the transport. What it returns lies inside the round trippers that authenticate. Use Wrap.
	WrapTransport WrapperFunc

	// DialHolder opens connections. Two configurations share connections only if they have the same holder.
	DialHolder *DialHolder

	// Proxy returns the proxy for a request, or nil. Defaults to http.ProxyFromEnvironment. With a function of a program's own,
	// connections are shared with no other configuration.
	Proxy func(*http.Request) (*url.URL, error)
}

// DialHolder has a function, so that a configuration can be compared.
type DialHolder struct {
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// GetCertHolder has a function, so that a configuration can be compared.
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

// TLSConfig says whom to trust, and with which certificate to come. Data goes before files.
type TLSConfig struct {
	CAFile         string
	CertFile       string
	KeyFile        string
	ReloadTLSFiles bool // the certificate was given as files, which are read again
	ReloadCAFiles  bool // CAFile is read again

	Insecure   bool   // any certificate of the server will do
	ServerName string // expected in the server's certificate, in place of the host

	CAData   []byte
	CertData []byte
	KeyData  []byte

	// NextProtos are the application protocols, the preferred one first.
	NextProtos []string

	// GetCertHolder returns a client certificate, if neither data nor files do.
	GetCertHolder *GetCertHolder
}

// HasCA reports whether there are authorities.
func (c *Config) HasCA() bool { return len(c.TLS.CAData) > 0 || c.TLS.CAFile != "" }

// HasBasicAuth reports whether there is a name for basic authentication.
func (c *Config) HasBasicAuth() bool { return c.Username != "" }

// HasTokenAuth reports whether there is a token, or a file of one.
func (c *Config) HasTokenAuth() bool { return c.BearerToken != "" || c.BearerTokenFile != "" }

// HasCertAuth reports whether there are a certificate and its key.
func (c *Config) HasCertAuth() bool {
	return (len(c.TLS.CertData) > 0 || c.TLS.CertFile != "") && (len(c.TLS.KeyData) > 0 || c.TLS.KeyFile != "")
}

// HasCertCallback reports whether a function returns the certificate.
func (c *Config) HasCertCallback() bool { return c.TLS.GetCertHolder != nil }

// Wrap adds a wrapper outside of those that there are.
func (c *Config) Wrap(fn WrapperFunc) { c.WrapTransport = Wrappers(c.WrapTransport, fn) }

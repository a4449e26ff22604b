package rest

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"time"
)

// Config says where an API server is and how to talk to it. Only Host is
// required.
//
// Printing a Config, with any verb of package fmt or through log/slog, shows
// neither tokens nor passwords nor keys.
type Config struct {
	// Host is the address of the server: "https://10.0.0.1:6443", or with a path
	// in front of the API, "https://proxy.example/clusters/c1". Without a scheme
	// it means https; plain http has to be asked for by name.
	Host string

	// TLS says whom to trust and, with a client certificate, who we are.
	TLS TLSConfig

	// BearerToken is sent as "Authorization: Bearer ...". With BearerTokenFile it
	// serves only until the file has been read.
	BearerToken string

	// BearerTokenFile is a file that holds the token. It is read again when the
	// last reading is a minute old, and after the server answered 401. While it
	// cannot be read, the last good token stays in use.
	BearerTokenFile string

	// Username and Password are sent as basic authentication, and exclude a
	// bearer token.
	Username string
	Password string

	// UserAgent is sent with every request. Defaults to "kinform".
	UserAgent string

	// DialContext opens connections. Defaults to TCP with a timeout and
	// keep-alives of 30 seconds each.
	DialContext func(ctx context.Context, network, addr string) (net.Conn, error)

	// Proxy names the proxy for a request. Defaults to
	// [http.ProxyFromEnvironment], or to no proxy where DialContext is set.
	Proxy func(*http.Request) (*url.URL, error)

	// HeaderTimeout bounds the time from sending a request to the headers of its
	// answer, connecting included, and what is read of the body of a failure. It
	// does not bound the reading of the body of a success, and so never ends a
	// watch. Defaults to 60 seconds: that is as long as an API
	// server works on a list before it gives up by itself (--request-timeout), so
	// a shorter time would repeat for ever what only needed patience.
	HeaderTimeout time.Duration
}

// TLSConfig says how connections are secured. Each of the three parts, CA,
// certificate and key, is given either as PEM data or as the path of a PEM file.
type TLSConfig struct {
	// CAData or CAFile holds the authorities that may have signed the server's
	// certificate. Defaults to those of the system. They are read once.
	CAData []byte
	CAFile string

	// CertData or CertFile, with KeyData or KeyFile, is the client certificate.
	// Files are read again for each new connection, so that a renewed certificate
	// is used without a restart.
	CertData []byte
	CertFile string
	KeyData  []byte
	KeyFile  string

	// KeyPair makes one of the contents of certificate and key; set it to
	// [tls.X509KeyPair]. It is required with a client certificate, and asked for
	// because what it needs to read every kind of private key is a sixtieth of a
	// small program, which most, having a token, do without. Package kubeconfig
	// sets it.
	KeyPair func(cert, key []byte) (tls.Certificate, error)

	// ServerName is the name expected in the server's certificate. Defaults to
	// the host name of Config.Host.
	ServerName string

	// Insecure accepts any certificate of the server. It excludes a CA.
	Insecure bool
}

// String shows the configuration without its secrets.
func (c Config) String() string {
	return fmt.Sprintf("rest.Config{Host: %q, TLS: %s, BearerToken: %s, BearerTokenFile: %q, Username: %q, Password: %s, UserAgent: %q, HeaderTimeout: %s}",
		redactedHost(c.Host), c.TLS, redacted(c.BearerToken), c.BearerTokenFile, c.Username, redacted(c.Password), c.UserAgent, c.HeaderTimeout)
}

// GoString is String.
func (c Config) GoString() string { return c.String() }

// Format writes String, whatever the verb.
func (c Config) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(c.String())) }

// LogValue is String.
func (c Config) LogValue() slog.Value { return slog.StringValue(c.String()) }

// String shows the configuration without the key.
func (t TLSConfig) String() string {
	return fmt.Sprintf("rest.TLSConfig{CAData: %d bytes, CAFile: %q, CertData: %d bytes, CertFile: %q, KeyData: %s, KeyFile: %q, ServerName: %q, Insecure: %t}",
		len(t.CAData), t.CAFile, len(t.CertData), t.CertFile, redacted(string(t.KeyData)), t.KeyFile, t.ServerName, t.Insecure)
}

// GoString is String.
func (t TLSConfig) GoString() string { return t.String() }

// Format writes String, whatever the verb.
func (t TLSConfig) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(t.String())) }

// LogValue is String.
func (t TLSConfig) LogValue() slog.Value { return slog.StringValue(t.String()) }

// redacted tells a secret that is there from one that is missing.
func redacted(secret string) string {
	if secret == "" {
		return `""`
	}
	return "[redacted]"
}

// redactedHost hides an address that NewClient would refuse, since someone may
// have written a password into it.
func redactedHost(host string) string {
	if _, err := parseHost(host); err != nil && host != "" {
		return "[unreadable]"
	}
	return host
}

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

	"github.com/kinform/kinform/rest/internal/transport"
	"github.com/kinform/kinform/rest/internal/wire"
)

// Config says where an API server is and how to talk to it. Only Host is
// required.
//
// Printing a Config in whatever way shows neither tokens nor passwords nor keys; see
// [Secret].
type Config struct {
	// Host is the address of the server: "https://10.0.0.1:6443", or with a path
	// in front of the API, "https://proxy.example/clusters/c1". Without a scheme
	// it means https; plain http has to be asked for by name.
	Host string

	// TLS says whom to trust and, with a client certificate, who we are.
	TLS TLSConfig

	// BearerToken is sent as "Authorization: Bearer ...". With BearerTokenFile it
	// serves only until the file has been read.
	BearerToken Secret

	// BearerTokenFile is a file that holds the token. It is read again when the
	// last reading is a minute old, and after the server answered 401. While it
	// cannot be read, the last good token stays in use.
	BearerTokenFile string

	// Username and Password are sent as basic authentication, and exclude a
	// bearer token.
	Username string
	Password Secret

	// Credentials provides a token or a client certificate that changes in another
	// way than a file does; package execauth gets one from a plugin. It excludes all
	// other credentials. It is called for requests, one call at a time, each of which
	// serves all that wait for it, and should answer from memory where it can. ctx is
	// not that of a request: it ends with CredentialTimeout and with the client, whose
	// Close waits for the function, and has the values of the request that came first.
	// refused is the last credential that a server has answered 401 to, nil where
	// there has been none. Where that is the current one, it is to be replaced. With
	// another certificate come new connections; open streams stay where they are.
	Credentials func(ctx context.Context, refused *Credential) (*Credential, error)

	// CredentialTimeout bounds a call of Credentials. The deadline of a request ends the
	// request, and not the call, which serves the next one. Defaults to 10 minutes, in
	// which one can log in with a browser.
	CredentialTimeout time.Duration

	// Impersonate is in whose name requests are made. Defaults to nobody else's.
	Impersonate Impersonation

	// UserAgent is sent with every request. Defaults to "kinform".
	UserAgent string

	// DialContext opens connections. Defaults to TCP with a timeout and
	// keep-alives of 30 seconds each.
	DialContext func(ctx context.Context, network, addr string) (net.Conn, error)

	// Proxy names the proxy for a request, by a URL of scheme http, https or socks5,
	// with the user and password that the proxy wants, if any. The proxy resolves
	// the name of the server. A proxy of scheme https is verified, and shown a
	// client certificate, by what TLS says, as the server is. Defaults to
	// [http.ProxyFromEnvironment], which names none for a host on loopback, or to
	// no proxy where DialContext is set.
	Proxy func(*http.Request) (*url.URL, error)

	// Compression says what may be compressed. Lists are at most; a watch never is,
	// for its latest events could be stuck in the decompressor. Defaults to
	// CompressAutomatic.
	Compression Compression

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
	// certificate. Defaults to those of the system.
	//
	// All files are read again by the first request after a minute, and the first
	// one after the server answered 401 or its certificate could not be verified.
	// Where one has changed, this and later requests use new connections, and open
	// streams stay where they are. While the files cannot be used, the last good
	// contents stay in use.
	CAData []byte
	CAFile string

	// CertData or CertFile, with KeyData or KeyFile, is the client certificate.
	CertData []byte
	CertFile string
	KeyData  Secret
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

func (t *TLSConfig) hasFiles() bool {
	return t.CAFile != "" || t.CertFile != "" || t.KeyFile != ""
}

func (t *TLSConfig) hasCertificate() bool {
	return len(t.CertData) > 0 || t.CertFile != "" || !t.KeyData.IsZero() || t.KeyFile != ""
}

// load reads what t names, and refuses what contradicts itself.
func (t *TLSConfig) load() (*transport.Security, error) {
	source := transport.Source{
		CA:          transport.PEM{Data: t.CAData, File: t.CAFile},
		Certificate: transport.PEM{Data: t.CertData, File: t.CertFile},
		Key:         transport.PEM{Data: []byte(t.KeyData.Reveal()), File: t.KeyFile},
		Insecure:    t.Insecure,
	}
	if t.KeyPair != nil {
		source.KeyPair = func(cert, key []byte) (pair tls.Certificate, err error) {
			err = wire.Guard(func() (err error) {
				pair, err = t.KeyPair(cert, key)
				return err
			})
			return pair, err
		}
	}
	return source.Load()
}

// String shows the configuration without its secrets.
func (c Config) String() string {
	return fmt.Sprintf("rest.Config{Host: %q, TLS: %s, BearerToken: %s, BearerTokenFile: %q, Username: %q, Password: %s, Credentials: %t, Impersonate: %+v, UserAgent: %q, Compression: %d, HeaderTimeout: %s, CredentialTimeout: %s}",
		redactedHost(c.Host), c.TLS, shown(c.BearerToken), c.BearerTokenFile, c.Username, shown(c.Password), c.Credentials != nil, c.Impersonate, c.UserAgent, c.Compression, c.HeaderTimeout, c.CredentialTimeout)
}

// GoString is String.
func (c Config) GoString() string { return c.String() }

// Format writes String, whatever the verb.
func (c Config) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(c.String())) }

// MarshalText is String.
func (c Config) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// LogValue is String.
func (c Config) LogValue() slog.Value { return slog.StringValue(c.String()) }

// String shows the configuration without the key.
func (t TLSConfig) String() string {
	return fmt.Sprintf("rest.TLSConfig{CAData: %d bytes, CAFile: %q, CertData: %d bytes, CertFile: %q, KeyData: %s, KeyFile: %q, ServerName: %q, Insecure: %t}",
		len(t.CAData), t.CAFile, len(t.CertData), t.CertFile, shown(t.KeyData), t.KeyFile, t.ServerName, t.Insecure)
}

// GoString is String.
func (t TLSConfig) GoString() string { return t.String() }

// Format writes String, whatever the verb.
func (t TLSConfig) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(t.String())) }

// MarshalText is String.
func (t TLSConfig) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// LogValue is String.
func (t TLSConfig) LogValue() slog.Value { return slog.StringValue(t.String()) }

// shown tells a secret that is there from one that is missing, beside fields in quotes.
func shown(secret Secret) string { return orDefault(secret.String(), `""`) }

// redactedHost hides an address that NewClient would refuse, since someone may
// have written a password into it.
func redactedHost(host string) string {
	if _, err := parseHost(host); err != nil && host != "" {
		return "[unreadable]"
	}
	return host
}

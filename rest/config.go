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

// Config has the address of an API server, the credentials, and the settings of connections. Only
// Host is required.
//
// The printed forms of a Config show no token, password or key; see [Secret].
type Config struct {
	// Host is the address of the server, such as "https://10.0.0.1:6443". It may have a path in
	// front of the API's path: "https://proxy.example/clusters/c1". The default scheme is https.
	Host string

	// TLS says which servers to trust, and may contain a client certificate.
	TLS TLSConfig

	// BearerToken is sent as "Authorization: Bearer ...". If BearerTokenFile is set,
	// requests use BearerToken only until the file has been read.
	BearerToken Secret

	// BearerTokenFile is a file with the token. The client reads the file again when the last read
	// is a minute old, and after the server responded with 401. While the file cannot be read, the
	// last good token stays in use.
	BearerTokenFile string

	// Username and Password are sent as basic authentication. They exclude a bearer token.
	Username string
	Password Secret

	// Credentials provides a token or a client certificate that does not come from a file, for
	// example from a plugin (package execauth). It excludes all other credentials.
	//
	// The client calls it for each request, so it should return a cached credential if possible.
	// Calls do not overlap, and all requests that wait at that moment get the same result. ctx has
	// the values of the first of these requests. It ends after CredentialTimeout, and when Close is
	// called; Close waits for the function to return. The argument refused is the last credential
	// that a server refused with 401, or nil. If it is still the current credential, the function
	// must return another one. After a change of the certificate, requests use new connections, and
	// open streams keep their connections.
	Credentials func(ctx context.Context, refused *Credential) (*Credential, error)

	// CredentialTimeout limits a call of Credentials. The deadline of a request ends only the
	// request; the call goes on, and its result serves the next request. Defaults to 10 minutes,
	// long enough to log in with a browser.
	CredentialTimeout time.Duration

	// Impersonate names the user on whose behalf the client makes requests. Defaults to the user of
	// the client's credentials.
	Impersonate Impersonation

	// UserAgent is sent with every request. Defaults to "kinform".
	UserAgent string

	// DialContext opens connections. Defaults to TCP with a timeout and
	// keep-alives of 30 seconds each.
	DialContext func(ctx context.Context, network, addr string) (net.Conn, error)

	// Proxy returns the URL of the proxy for a request, or nil for no proxy. The scheme is http,
	// https or socks5. The URL contains the user and the password for the proxy, if the proxy needs
	// them. The proxy resolves the name of the server. An https proxy is verified like the server,
	// with the CA bundle and the client certificate in TLS. Defaults to no proxy if DialContext is
	// set, and otherwise to [http.ProxyFromEnvironment], which uses no proxy for a host on
	// loopback.
	Proxy func(*http.Request) (*url.URL, error)

	// Compression says whether the client requests compressed lists. It requests no other
	// compressed responses: in a watch, the decompressor could hold back the latest events.
	// Defaults to CompressAutomatic.
	Compression Compression

	// HeaderTimeout limits the time from sending a request to the headers of the response,
	// including connecting. It also limits reading the body of a failure. It limits no other body,
	// and so never ends a watch. Defaults to 60 seconds, because an API server ends a list after 60
	// seconds (--request-timeout). With a shorter time, every list of a slow server may fail.
	HeaderTimeout time.Duration
}

// TLSConfig says how connections are secured. CA bundle, certificate and key are each given either
// as PEM data or as the path of a PEM file.
type TLSConfig struct {
	// CAData or CAFile is the CA bundle that verifies the server's certificate. Defaults to the
	// system's CA bundle.
	//
	// The client reads all files again for the first request after a minute. It also does so for
	// the first request after a 401, or after it could not verify the server's certificate. If a
	// file has changed, new requests use new connections, and open streams keep theirs. While a
	// file cannot be used, its last good content stays in use.
	CAData []byte
	CAFile string

	// CertData or CertFile, with KeyData or KeyFile, is the client certificate. Defaults to no
	// certificate.
	CertData []byte
	CertFile string
	KeyData  Secret
	KeyFile  string

	// KeyPair makes a certificate from the contents of certificate and key. It is required with a
	// client certificate: set it to [tls.X509KeyPair]. Package kubeconfig sets it. KeyPair is a
	// field, so that only programs with a client certificate link the parsers of private keys.
	// These are a sixtieth of a small program.
	KeyPair func(cert, key []byte) (tls.Certificate, error)

	// ServerName is the expected name in the server's certificate. Defaults to the host name of
	// Config.Host.
	ServerName string

	// Insecure accepts any certificate of the server. It excludes a CA bundle.
	Insecure bool
}

func (t *TLSConfig) hasFiles() bool {
	return t.CAFile != "" || t.CertFile != "" || t.KeyFile != ""
}

func (t *TLSConfig) hasCertificate() bool {
	return len(t.CertData) > 0 || t.CertFile != "" || !t.KeyData.IsZero() || t.KeyFile != ""
}

// load reads the files of t. It returns an error if the fields of t contradict each other.
func (t *TLSConfig) load() (*transport.TLS, error) {
	source := transport.TLSSource{
		CA:          transport.PEM{Data: t.CAData, File: t.CAFile},
		Certificate: transport.PEM{Data: t.CertData, File: t.CertFile},
		Key:         transport.PEM{Data: []byte(t.KeyData.Reveal()), File: t.KeyFile},
		Insecure:    t.Insecure,
	}
	if t.KeyPair != nil {
		source.KeyPair = func(cert, key []byte) (pair tls.Certificate, err error) {
			err = wire.CatchPanic(func() (err error) {
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
		redactedHost(c.Host), c.TLS, printedSecret(c.BearerToken), c.BearerTokenFile, c.Username, printedSecret(c.Password), c.Credentials != nil, c.Impersonate, c.UserAgent, c.Compression, c.HeaderTimeout, c.CredentialTimeout)
}

// GoString is String.
func (c Config) GoString() string { return c.String() }

// Format writes String for every verb.
func (c Config) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(c.String())) }

// MarshalText is String.
func (c Config) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// LogValue is String.
func (c Config) LogValue() slog.Value { return slog.StringValue(c.String()) }

// String shows the configuration without the key.
func (t TLSConfig) String() string {
	return fmt.Sprintf("rest.TLSConfig{CAData: %d bytes, CAFile: %q, CertData: %d bytes, CertFile: %q, KeyData: %s, KeyFile: %q, ServerName: %q, Insecure: %t}",
		len(t.CAData), t.CAFile, len(t.CertData), t.CertFile, printedSecret(t.KeyData), t.KeyFile, t.ServerName, t.Insecure)
}

// GoString is String.
func (t TLSConfig) GoString() string { return t.String() }

// Format writes String for every verb.
func (t TLSConfig) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(t.String())) }

// MarshalText is String.
func (t TLSConfig) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// LogValue is String.
func (t TLSConfig) LogValue() slog.Value { return slog.StringValue(t.String()) }

// printedSecret returns the printed form of a secret, or a pair of quotes if the secret is empty.
func printedSecret(secret Secret) string { return orDefault(secret.String(), `""`) }

// redactedHost returns host, or a placeholder if NewClient would refuse it, because it may contain
// a password.
func redactedHost(host string) string {
	if _, err := parseHost(host); err != nil && host != "" {
		return "[invalid]"
	}
	return host
}

package rest

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"github.com/kinform/kinform/rest/internal/auth"
	"github.com/kinform/kinform/rest/internal/redact"
	"github.com/kinform/kinform/rest/internal/transport"
)

// Credential is a token, a client certificate, or both, from [Config].Credentials. It must not be
// changed.
//
// The printed forms of a Credential, by value or by pointer, show neither the token nor the
// certificate.
type Credential struct {
	// Token is sent as a bearer token. Defaults to no token.
	Token Secret

	// Certificate returns the client certificate for connections that are opened while the
	// credential is in use. It must always return the same certificate. It is a function, because
	// fmt would print the private key that a pointer leads to. The client compares certificates by
	// their contents: a credential with the current certificate needs no new connections. Defaults
	// to no certificate.
	Certificate func() *tls.Certificate
}

// certificate returns the client certificate, or nil.
func (c *Credential) certificate() *tls.Certificate {
	if c.Certificate == nil {
		return nil
	}
	return c.Certificate()
}

// String hides the credential.
func (c Credential) String() string { return redact.Mask }

// GoString is String.
func (c Credential) GoString() string { return redact.Mask }

// Format hides the credential for every verb.
func (c Credential) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(redact.Mask)) }

// MarshalText is String.
func (c Credential) MarshalText() ([]byte, error) { return []byte(redact.Mask), nil }

// LogValue is String.
func (c Credential) LogValue() slog.Value { return slog.StringValue(redact.Mask) }

// credentials adds the client's credential to requests.
type credentials struct {
	username        string
	password, token Secret
	file            *auth.TokenFile          // nil without Config.BearerTokenFile
	source          *auth.Source[Credential] // nil without Config.Credentials
	redactor        *redact.Redactor         // gets each secret before it is sent
	impersonation   http.Header
}

func newCredentials(cfg *Config, redactor *redact.Redactor, logger *slog.Logger) (*credentials, error) {
	out := &credentials{username: cfg.Username, password: cfg.Password, token: cfg.BearerToken, redactor: redactor}
	if cfg.Credentials != nil {
		out.source = auth.NewSource(cfg.Credentials, orDefault(cfg.CredentialTimeout, 10*time.Minute))
	}
	hasToken := !cfg.BearerToken.IsZero() || cfg.BearerTokenFile != ""
	hasUser := cfg.Username != "" || !cfg.Password.IsZero()
	switch {
	case hasToken && hasUser:
		return nil, errors.New("a bearer token and a user name exclude each other: remove one of them")
	case out.source != nil && (hasToken || hasUser || cfg.TLS.hasCertificate()):
		return nil, errors.New("the function Credentials excludes a token, a user name and a client certificate: remove one of them")
	case cfg.CredentialTimeout < 0:
		return nil, errors.New("CredentialTimeout must not be negative")
	case !cfg.Password.IsZero() && cfg.Username == "":
		return nil, errors.New("a password needs a user name")
	}
	var err error
	if out.impersonation, err = cfg.Impersonate.header(); err != nil {
		return nil, err
	}
	redactor.Add(cfg.BearerToken.text)
	redactor.AddBasicAuth(cfg.Username, cfg.Password.text)
	if cfg.BearerTokenFile != "" {
		out.file = auth.NewTokenFile(cfg.BearerTokenFile, cfg.BearerToken.text, logger)
		if token, _ := out.file.Get(context.Background(), transport.FirstLoadTimeout); token == nil {
			return nil, fmt.Errorf("bearer token: %w", out.file.ReadError())
		}
	}
	return out, nil
}

// apply sets the headers that authenticate a request, and returns the credential that they come
// from. It may wait for Config.Credentials or a file, until the context of req ends.
func (c *credentials) apply(req *http.Request) (*Credential, error) {
	for name, values := range c.impersonation {
		req.Header[name] = values
	}
	credential := &Credential{Token: c.token}
	switch {
	case c.source != nil:
		var err error
		if credential, err = c.acquire(req.Context()); err != nil {
			return nil, err
		}
	case c.username != "":
		req.SetBasicAuth(c.username, c.password.Reveal())
	case c.file != nil:
		var err error
		if credential.Token.text, err = c.file.Get(req.Context(), transport.ReloadTimeout); err != nil {
			return nil, err
		}
	}
	if !credential.Token.IsZero() {
		c.redactor.Add(credential.Token.text)
		req.Header.Set("Authorization", "Bearer "+credential.Token.Reveal())
	}
	return credential, nil
}

// acquire gets a credential from the source.
func (c *credentials) acquire(ctx context.Context) (*Credential, error) {
	credential, err := c.source.Get(ctx)
	if err != nil {
		return nil, fmt.Errorf("credentials: %w", err)
	}
	return credential, nil
}

// onUnauthorized records that the server responded with 401 to a request with this credential.
func (c *credentials) onUnauthorized(credential *Credential) {
	if c.file != nil {
		c.file.ExpireIfCurrent(credential.Token.text)
	}
	if c.source != nil {
		c.source.SetRefused(credential)
	}
}

// Prepare waits until the client has the credential that a request needs, or until ctx ends. It
// returns at once if [Config].Credentials is not set. A caller that sets deadlines for requests
// calls Prepare first, with a context that leaves enough time to log in. Requests also get a
// credential by themselves.
func (c *Client) Prepare(ctx context.Context) error {
	return c.prepare(ctx, c.base.String())
}

// Prepare implements [listwatch.Preparer]; see [Client.Prepare].
func (r *Resource[T]) Prepare(ctx context.Context) error {
	return r.client.prepare(ctx, r.String())
}

func (c *Client) prepare(ctx context.Context, text string) error {
	if c.credentials.source == nil {
		return nil
	}
	if _, err := c.credentials.acquire(ctx); err != nil {
		x := &exchange{config: &c.decodeConfig, method: http.MethodGet, ctx: ctx}
		if address, parseErr := url.Parse(text); parseErr == nil {
			x.address = *address
		}
		return x.wrapError(err)
	}
	return nil
}

package rest

import (
	"crypto/tls"
	"fmt"
	"log/slog"

	"github.com/kinform/kinform/rest/internal/redact"
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

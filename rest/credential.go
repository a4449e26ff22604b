package rest

import (
	"crypto/tls"
	"fmt"
	"log/slog"
)

// Credential is a proof of identity that somebody else provides and renews; see
// [Config].Credentials. A holder must not change it.
//
// Printing it, by value or by pointer, shows neither of the two.
type Credential struct {
	// Token is sent as bearer token. Defaults to none.
	Token Secret

	// Certificate returns what is shown to the server by all connections that are
	// opened while the credential is in use. It is a function, as printers find the
	// key behind a pointer. What it returns must not change; whether it is the one
	// that is in use already is told by its contents. Defaults to none.
	Certificate func() *tls.Certificate
}

// certificate is what Certificate returns, or nil.
func (c *Credential) certificate() *tls.Certificate {
	if c.Certificate == nil {
		return nil
	}
	return c.Certificate()
}

// String hides the credential.
func (c Credential) String() string { return hidden }

// GoString is String.
func (c Credential) GoString() string { return hidden }

// Format writes String, whatever the verb.
func (c Credential) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(hidden)) }

// MarshalText is String.
func (c Credential) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// LogValue is String.
func (c Credential) LogValue() slog.Value { return slog.StringValue(hidden) }

package rest

import "crypto/tls"

// Credential is a proof of identity that somebody else provides and renews; see
// [Config].Credentials. A holder must not change it.
type Credential struct {
	// Token is sent as bearer token. Defaults to none.
	Token string

	// Certificate is shown to the server by all connections that are opened while
	// the credential is in use. Defaults to none.
	Certificate *tls.Certificate
}

// String hides the credential.
func (c *Credential) String() string { return "[redacted]" }

// GoString is String.
func (c *Credential) GoString() string { return c.String() }

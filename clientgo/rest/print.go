package rest

import (
	"fmt"
	"strings"
)

// These types have no methods, so that printing them does not call the methods String and GoString
// of their underlying types.
type (
	configText *Config
	// the printed text contains this name of a type, as in client-go
	sanitizedTLSClientConfig TLSClientConfig
)

// redacted replaces a secret.
const redacted = "--- REDACTED ---"

func redact(secret string) string {
	if secret == "" {
		return ""
	}
	return redacted
}

// redactBytes replaces a secret by the second argument. If the secret is empty, it returns the
// secret.
func redactBytes(secret []byte, as string) []byte {
	if len(secret) == 0 {
		return secret
	}
	return []byte(as)
}

// redactedPersister wraps the program's persister. When a Config is printed, a placeholder shows in
// the place of the persister.
type redactedPersister struct{ AuthProviderConfigPersister }

func (redactedPersister) GoString() string {
	return "rest.AuthProviderConfigPersister(" + redacted + ")"
}
func (redactedPersister) String() string { return "rest.AuthProviderConfigPersister(" + redacted + ")" }

// GoString returns a text without secrets.
func (c *Config) GoString() string { return c.String() }

// String returns a text without secrets.
func (c *Config) String() string {
	if c == nil {
		return "<nil>"
	}
	shown := CopyConfig(c)
	shown.Password, shown.BearerToken = redact(c.Password), redact(c.BearerToken)
	if c.AuthConfigPersister != nil {
		shown.AuthConfigPersister = redactedPersister{c.AuthConfigPersister}
	}
	// AuthProvider, ExecProvider and TLSClientConfig hide their own secrets.
	text := fmt.Sprintf("%#v", configText(shown))
	if c.Sharing == "" { // omit a field that client-go does not have
		text = strings.TrimSuffix(text, `, Sharing:""}`) + "}"
	}
	return text
}

// GoString returns a text without the key.
func (c TLSClientConfig) GoString() string { return c.String() }

// String returns a text without the key, in which certificates are shortened.
func (c TLSClientConfig) String() string {
	shown := sanitizedTLSClientConfig(c)
	shown.CertData = redactBytes(c.CertData, "--- TRUNCATED ---")
	shown.KeyData = redactBytes(c.KeyData, redacted)
	shown.CAData = redactBytes(c.CAData, "--- TRUNCATED ---")
	return fmt.Sprintf("%#v", shown)
}

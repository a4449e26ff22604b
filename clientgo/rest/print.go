package rest

import (
	"fmt"
	"strings"
)

// These types print like their underlying types, without methods of their own.
type (
	configText *Config
	// the printed text contains this name, as client-go's does
	sanitizedTLSClientConfig TLSClientConfig
)

// hidden replaces a secret.
const hidden = "--- REDACTED ---"

func hide(secret string) string {
	if secret == "" {
		return ""
	}
	return hidden
}

// hideBytes returns as in place of a secret, or no bytes if the secret is empty.
func hideBytes(secret []byte, as string) []byte {
	if len(secret) == 0 {
		return secret
	}
	return []byte(as)
}

// hiddenPersister hides the program's persister when it is printed.
type hiddenPersister struct{ AuthProviderConfigPersister }

func (hiddenPersister) GoString() string { return "rest.AuthProviderConfigPersister(" + hidden + ")" }
func (hiddenPersister) String() string   { return "rest.AuthProviderConfigPersister(" + hidden + ")" }

// GoString hides the secrets.
func (c *Config) GoString() string { return c.String() }

// String hides the secrets.
func (c *Config) String() string {
	if c == nil {
		return "<nil>"
	}
	shown := CopyConfig(c)
	shown.Password, shown.BearerToken = hide(c.Password), hide(c.BearerToken)
	if c.AuthConfigPersister != nil {
		shown.AuthConfigPersister = hiddenPersister{c.AuthConfigPersister}
	}
	// AuthProvider, ExecProvider and TLSClientConfig hide their own secrets.
	text := fmt.Sprintf("%#v", configText(shown))
	if c.Sharing == "" { // a field that client-go does not have
		text = strings.TrimSuffix(text, `, Sharing:""}`) + "}"
	}
	return text
}

// GoString hides the key.
func (c TLSClientConfig) GoString() string { return c.String() }

// String hides the key, and shortens the certificates.
func (c TLSClientConfig) String() string {
	shown := sanitizedTLSClientConfig(c)
	shown.CertData = hideBytes(c.CertData, "--- TRUNCATED ---")
	shown.KeyData = hideBytes(c.KeyData, hidden)
	shown.CAData = hideBytes(c.CAData, "--- TRUNCATED ---")
	return fmt.Sprintf("%#v", shown)
}

package rest

import (
	"fmt"
	"strings"
)

// These types print as the ones that they are made of, without methods of their own.
type (
	configText               *Config
	sanitizedTLSClientConfig TLSClientConfig // its name is a part of the text, client-go's
)

// hidden is what a secret looks like.
const hidden = "--- REDACTED ---"

func hide(secret string) string {
	if secret == "" {
		return ""
	}
	return hidden
}

// hideBytes says that there are bytes, without what they are.
func hideBytes(secret []byte, as string) []byte {
	if len(secret) == 0 {
		return secret
	}
	return []byte(as)
}

// hiddenPersister prints no program's persister.
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
	// AuthProvider, ExecProvider and TLSClientConfig hide theirs themselves.
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

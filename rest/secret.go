package rest

import (
	"fmt"
	"log/slog"

	"github.com/kinform/kinform/rest/internal/redact"
)

// Secret is a text that only [Secret.Reveal] shows: a token, a password, a private key. Printing a
// Secret writes "[redacted]", or nothing if the text is empty. This holds for all verbs of package
// fmt, for log/slog, for encoding/json, and for every other printer that calls MarshalText. A
// printer that uses reflection and calls no methods, like fmt for unexported fields, prints only
// the address of a function.
//
// The zero value is the empty text. A Secret does not change, and may be copied. It cannot be
// compared by ==, nor decoded from its printed form. encoding/gob refuses it.
type Secret struct{ text redact.Hidden }

// NewSecret returns a secret with a copy of text.
func NewSecret[T ~string | ~[]byte](text T) Secret {
	return Secret{redact.Hide(string(text))}
}

// Secrets returns a secret for each of the texts, such as the arguments of a command.
func Secrets(texts ...string) []Secret {
	out := make([]Secret, len(texts))
	for i, text := range texts {
		out[i] = NewSecret(text)
	}
	return out
}

// Reveal returns the text.
func (s Secret) Reveal() string { return s.text.Reveal() }

// IsZero reports whether the text is empty.
func (s Secret) IsZero() bool { return s.text == nil }

// String returns "[redacted]", or "" if the text is empty.
func (s Secret) String() string {
	if s.IsZero() {
		return ""
	}
	return redact.Mask
}

// GoString is String.
func (s Secret) GoString() string { return s.String() }

// Format writes String for every verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(s.String())) }

// MarshalText is String.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// LogValue is String.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

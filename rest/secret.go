package rest

import (
	"fmt"
	"log/slog"
)

// Secret is a text that only [Secret.Reveal] shows: a token, a password, a private
// key. Whatever prints it writes "[redacted]", or nothing where the text is empty:
// all verbs of package fmt, log/slog, encoding/json and whoever else asks for
// MarshalText. Where a printer finds it by reflection and calls no method, as fmt
// does in fields that are not exported, it finds the address of a function.
//
// The zero value is the empty text. A Secret does not change and may be copied. It
// cannot be compared with ==, nor read back from what it was written as; encoding/gob
// refuses it.
type Secret struct {
	reveal func() string // nil for the empty text
}

// NewSecret returns the secret with this text, of which it keeps a copy.
func NewSecret[T ~string | ~[]byte](text T) Secret { return newSecret(string(text)) }

func newSecret(text string) Secret {
	if text == "" {
		return Secret{}
	}
	return Secret{reveal: func() string { return text }}
}

// Secrets returns a secret for each of the texts, such as the arguments of a command.
func Secrets(texts ...string) []Secret {
	out := make([]Secret, len(texts))
	for i, text := range texts {
		out[i] = newSecret(text)
	}
	return out
}

// Reveal returns the text.
func (s Secret) Reveal() string {
	if s.reveal == nil {
		return ""
	}
	return s.reveal()
}

// IsZero says whether the text is empty.
func (s Secret) IsZero() bool { return s.reveal == nil }

// hidden is what stands for a secret.
const hidden = "[redacted]"

// String tells only a secret that is there from one that is missing.
func (s Secret) String() string {
	if s.IsZero() {
		return ""
	}
	return hidden
}

// GoString is String.
func (s Secret) GoString() string { return s.String() }

// Format writes String, whatever the verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(s.String())) }

// MarshalText is String.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// LogValue is String.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

package rest

import (
	"encoding/base64"
	"errors"
	"net/url"
	"slices"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// These constants limit how many secrets a redactor looks for, and which parts of them.
const (
	// maxSecrets is how many secrets a redactor remembers. One secret would not be enough: a stream
	// may outlive several tokens, and the error that ends the stream may repeat the token of its
	// request.
	maxSecrets = 16
	// minSecretLength is the length of the shortest secret that a redactor looks for. Most texts
	// contain a shorter secret by chance.
	minSecretLength = 4
	// minPartLength is the length of the shortest part of a secret that a redactor looks for.
	minPartLength = 8
)

// redactor hides the secrets that a client has sent, in texts that may repeat them. For example, a
// proxy may print the request's headers on its error page, and an error shows the start of this
// page. A nil redactor hides nothing.
type redactor struct {
	mu      sync.Mutex    // guards following
	secrets []knownSecret // oldest first
}

// knownSecret is a secret with the forms in which a redactor looks for it: the secret itself, its
// texts in base64, and its longer parts. The forms are of type Secret, so that printing a redactor
// does not show them.
type knownSecret struct {
	secret Secret
	forms  []Secret
}

// addSecret adds a secret that is about to be sent.
func (m *redactor) addSecret(secret Secret) {
	text := secret.Reveal()
	if m == nil || len(text) < minSecretLength {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := len(m.secrets) - 1; i >= 0; i-- { // usually, the secret is the newest one
		if m.secrets[i].secret.Reveal() == text {
			return
		}
	}
	if len(m.secrets) == maxSecrets {
		m.secrets = slices.Delete(m.secrets, 0, 1)
	}
	forms := base64Forms(text)
	if normalized := normalize(text).text; len(normalized) >= minSecretLength {
		forms = append(forms, string(normalized))
	}
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return !unreserved(r) }) {
		if own := normalize(part).text; len(own) >= minPartLength {
			forms = append(forms, string(own))
		}
	}
	slices.Sort(forms)
	m.secrets = append(m.secrets, knownSecret{secret, Secrets(slices.Compact(forms)...)})
}

// addBasicAuth adds a password, and the basic-authentication header made of name and password.
func (m *redactor) addBasicAuth(name string, password Secret) {
	if m != nil && !password.IsZero() {
		m.addSecret(password)
		m.addSecret(newSecret(base64.StdEncoding.EncodeToString([]byte(name + ":" + password.Reveal()))))
	}
}

// addProxy adds the password in the URL of a proxy.
func (m *redactor) addProxy(proxy *url.URL) {
	password, _ := proxy.User.Password()
	m.addBasicAuth(proxy.User.Username(), newSecret(password))
}

// unreserved reports whether a character needs no escape in HTML, JSON and URLs.
func unreserved(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("-._~", r)
}

// text replaces the known secrets in a text by "[redacted]". Secrets that touch or overlap become
// one "[redacted]".
func (m *redactor) text(text string) string {
	if m == nil {
		return text
	}
	m.mu.Lock()
	var secrets, forms []string
	for _, k := range m.secrets {
		secrets = append(secrets, k.secret.Reveal())
		forms = append(forms, revealAll(k.forms)...)
	}
	m.mu.Unlock()
	if len(secrets) == 0 {
		return text
	}
	found := normalize(text).find(forms)
	for _, secret := range secrets {
		// The normalized form lacks some characters, perhaps the first or the last ones.
		for at := 0; ; at += len(secret) {
			n := strings.Index(text[at:], secret)
			if n < 0 {
				break
			}
			at += n
			found = append(found, span{at, at + len(secret)})
		}
	}
	if len(found) == 0 {
		return text
	}
	secret := make([]bool, len(text))
	for _, at := range found {
		for i := at.from; i < at.to; i++ {
			secret[i] = true
		}
	}
	var out strings.Builder
	for i := range len(text) {
		switch {
		case !secret[i]:
			out.WriteByte(text[i])
		case i == 0 || !secret[i-1]:
			out.WriteString(redacted)
		}
	}
	return out.String()
}

func revealAll(secrets []Secret) []string {
	out := make([]string, len(secrets))
	for i, secret := range secrets {
		out[i] = secret.Reveal()
	}
	return out
}

// maxErrorBytes bounds the text of an error, because net/http may quote any response in it.
const maxErrorBytes = 4 * maxTextBytes

// err hides the known secrets in an error. It changes the texts of a server's Status in place. If
// another part of the error's text has a secret, err returns an error with another text, through
// which errors.Is still works. A text that is too long is truncated.
func (m *redactor) err(err error) error {
	if m == nil || err == nil {
		return err
	}
	if failed, ok := errors.AsType[*apierrors.StatusError](err); ok {
		m.status(&failed.ErrStatus)
	}
	text := err.Error()
	redactedText := m.text(text[:min(len(text), maxErrorBytes)])
	if len(text) > maxErrorBytes {
		redactedText += "..."
	}
	if redactedText != text {
		return &redactedError{text: redactedText, redactor: m, reason: func() error { return err }}
	}
	return err
}

func (m *redactor) status(status *metav1.Status) {
	texts := []*string{&status.Message, (*string)(&status.Reason), &status.Continue}
	if details := status.Details; details != nil {
		texts = append(texts, &details.Name, &details.Group, &details.Kind, (*string)(&details.UID))
		for i := range details.Causes {
			cause := &details.Causes[i]
			texts = append(texts, (*string)(&cause.Type), &cause.Message, &cause.Field)
		}
	}
	for _, text := range texts {
		*text = m.text(*text)
	}
}

// redactedError is an error with the text of its reason, without the secrets. The reason is behind
// a function, so that printers do not find it; see Secret.
type redactedError struct {
	text     string
	redactor *redactor
	reason   func() error
}

// Error returns the text without its secrets.
func (e *redactedError) Error() string { return e.text }

// Is calls errors.Is for the reason. There is no Unwrap, because the reason has the secrets.
func (e *redactedError) Is(target error) bool { return errors.Is(e.reason(), target) }

// As does the work of errors.As for the errors within the reason whose texts have no secret, such
// as the Status of a server. It does not find an error whose text has a secret, or that wraps such
// an error.
func (e *redactedError) As(target any) bool {
	return e.redactor.as(e.reason(), target)
}

// as does the work of errors.As for the errors within err whose texts have no secret.
func (m *redactor) as(err error, target any) bool {
	if !m.hasSecret(err) {
		return errors.As(err, target)
	}
	return slices.ContainsFunc(unwrapped(err), func(inner error) bool { return m.as(inner, target) })
}

// hasSecret reports whether the text of an error, or of an error that it wraps, has a known secret.
func (m *redactor) hasSecret(err error) bool {
	text := err.Error()
	return m.text(text) != text || slices.ContainsFunc(unwrapped(err), m.hasSecret)
}

// unwrapped returns the errors that an error wraps directly.
func unwrapped(err error) []error {
	switch err := err.(type) {
	case interface{ Unwrap() error }:
		if inner := err.Unwrap(); inner != nil {
			return []error{inner}
		}
	case interface{ Unwrap() []error }:
		return err.Unwrap()
	}
	return nil
}

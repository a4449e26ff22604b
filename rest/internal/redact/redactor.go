package redact

import (
	"encoding/base64"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// These constants limit how many secrets a Redactor looks for, and which parts of them.
const (
	// maxSecrets is how many secrets a Redactor remembers. One secret would not be enough: a stream
	// may outlive several tokens, and the error that ends the stream may repeat the token of its
	// request.
	maxSecrets = 16
	// minSecretLength is the length of the shortest secret that a Redactor looks for. Most texts
	// contain a shorter secret by chance.
	minSecretLength = 4
	// minPartLength is the length of the shortest part of a secret that a Redactor looks for.
	minPartLength = 8
)

// Redactor hides the secrets that a client has sent, in texts that may repeat them. For example, a
// proxy may print the request's headers on its error page, and an error shows the start of this
// page. A nil Redactor hides nothing. A Redactor is safe for concurrent use.
type Redactor struct {
	mu      sync.Mutex    // guards following
	secrets []knownSecret // oldest first
}

// knownSecret is a secret with the forms in which a Redactor looks for it: the secret itself, its
// texts in base64, and its longer parts. They are behind functions, so that printing a Redactor
// does not show them.
type knownSecret struct {
	secret Hidden
	forms  []Hidden
}

// Add adds a secret that is about to be sent.
func (m *Redactor) Add(secret Hidden) {
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
	m.secrets = append(m.secrets, knownSecret{secret, hideAll(slices.Compact(forms))})
}

// AddBasicAuth adds a password, and the basic-authentication header made of name and password.
func (m *Redactor) AddBasicAuth(name string, password Hidden) {
	if m != nil && password != nil {
		m.Add(password)
		m.Add(Hide(base64.StdEncoding.EncodeToString([]byte(name + ":" + password.Reveal()))))
	}
}

// AddProxy adds the password in the URL of a proxy.
func (m *Redactor) AddProxy(proxy *url.URL) {
	password, _ := proxy.User.Password()
	m.AddBasicAuth(proxy.User.Username(), Hide(password))
}

// unreserved reports whether a character needs no escape in HTML, JSON and URLs.
func unreserved(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("-._~", r)
}

// Text replaces the known secrets in a text by "[redacted]". Secrets that touch or overlap become
// one "[redacted]".
func (m *Redactor) Text(text string) string {
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
			out.WriteString(Mask)
		}
	}
	return out.String()
}

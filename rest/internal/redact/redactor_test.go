package redact

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"io/fs"
	"net"
	"net/url"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestRedactorRemembersTheLastSecrets(t *testing.T) {
	t.Parallel()
	var m Redactor
	for i := range maxSecrets + 1 {
		m.Add(Hide(fmt.Sprintf("token-%02d", i)))
		m.Add(Hide(fmt.Sprintf("token-%02d", i)))
	}
	require.Len(t, m.secrets, maxSecrets)
	require.Equal(t, "token-00 [redacted] [redacted]", m.Text("token-00 token-01 token-16"))
	m.Add(Hide("abc"))
	m.Add(Hide(""))
	require.Equal(t, "abc", m.Text("abc"), "a secret of three characters must not be redacted")

	m = Redactor{}
	m.Add(Hide("inner-secret"))
	m.Add(Hide("outer-inner-secret-outer"))
	require.Equal(t, "a [redacted] b", m.Text("a outer-inner-secret-outer b"))
	require.Equal(t, "a [redacted]", m.Text("a outer-inn"), "the first part of a truncated secret must be redacted")
	require.Equal(t, "a outer-i b", m.Text("a outer-i b"), "a short part of a secret must not be redacted")
	require.Equal(t, "[redacted]", m.Text("inner-secretinner-secret"), "adjacent secrets must become one placeholder")

	var none *Redactor
	none.Add(Hide("inner-secret"))
	require.Equal(t, "inner-secret", none.Text("inner-secret"))
	reason := errors.New("inner-secret")
	err := m.Err(fmt.Errorf("%w: inner-secret", errors.Join(reason, context.Canceled)))
	require.EqualError(t, err, "[redacted]\ncontext canceled: [redacted]")
	require.ErrorIs(t, err, reason)
	require.ErrorIs(t, err, context.Canceled)
	require.NotErrorIs(t, err, io.EOF)

	m = Redactor{}
	m.AddBasicAuth("me", Hide("<a&b>"))
	require.Equal(t, "[redacted] [redacted] [redacted] [redacted]", m.Text("<a&b> &lt;a&amp;b&gt; %3Ca%26b%3E bWU6PGEmYj4="))
}

// errors.As finds a wrapped error through a redacted error, unless this would show a secret.
func TestRedactedErrorSupportsErrorsAs(t *testing.T) {
	t.Parallel()
	m := Redactor{}
	m.Add(Hide("inner-secret"))
	loud := &fs.PathError{Op: "open", Path: "inner-secret", Err: syscall.ENOENT}
	quiet := &net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded}
	refused := apierrors.NewNotFound(schema.GroupResource{Resource: "pods"}, "inner-secret")
	err := m.Err(fmt.Errorf("inner-secret: %w", errors.Join(quiet, loud, refused)))
	require.NotContains(t, err.Error(), "inner-secret")

	_, found := errors.AsType[*fs.PathError](err)
	require.False(t, found, "errors.As must not find the PathError, whose text has the secret")
	errno, found := errors.AsType[syscall.Errno](err)
	require.True(t, found)
	require.Equal(t, syscall.ENOENT, errno)
	op, found := errors.AsType[*net.OpError](err)
	require.True(t, found)
	require.Same(t, quiet, op)
	timeout, found := errors.AsType[net.Error](err)
	require.True(t, found)
	require.True(t, timeout.Timeout())

	require.True(t, apierrors.IsNotFound(err))
	var status apierrors.APIStatus
	require.ErrorAs(t, err, &status)
	require.NotContains(t, fmt.Sprintf("%+v", status.Status()), "inner-secret")

	// An error whose text has no secret may wrap an error whose text has the secret.
	err = m.Err(fmt.Errorf("inner-secret: %w", silentError{loud}))
	_, found = errors.AsType[silentError](err)
	require.False(t, found)
	_, found = errors.AsType[*fs.PathError](err)
	require.False(t, found)
}

type silentError struct{ reason error }

func (silentError) Error() string { return "it failed" }

func (e silentError) Unwrap() error { return e.reason }

var escapes = regexp.MustCompile(`(?i)%(25)?[0-9a-f]{2}|\\+u[0-9a-f]{4}|&#x?[0-9a-f]+;`)

// The redactor finds a secret in any form in which a server, a proxy or a log writes it.
func TestRedactorFindsEncodedSecrets(t *testing.T) {
	t.Parallel()
	quoted := func(text string) string {
		data, _ := json.Marshal(text)
		return string(data[1 : len(data)-1])
	}
	lines := func(end string) func(string) string {
		return func(text string) string {
			var out strings.Builder
			for i, c := range []byte(text) {
				if i > 0 && i%6 == 0 {
					out.WriteString(end)
				}
				out.WriteByte(c)
			}
			return out.String()
		}
	}
	each := func(format string) func(string) string {
		return func(text string) string {
			var out strings.Builder
			for _, c := range []byte(text) {
				fmt.Fprintf(&out, format, c)
			}
			return out.String()
		}
	}
	writings := map[string]func(string) string{
		"as it is":                  func(s string) string { return s },
		"in a query":                url.QueryEscape,
		"in a segment":              url.PathEscape,
		"in a path":                 func(s string) string { return (&url.URL{Path: "/" + s}).EscapedPath()[1:] },
		"in a query, in lower case": func(s string) string { return strings.ToLower(url.QueryEscape(strings.ToLower(s))) },
		"in a query in a query":     func(s string) string { return url.QueryEscape(url.QueryEscape(s)) },
		"on a page":                 html.EscapeString,
		"on a page, in numbers":     each("&#%d;"),
		"on a page, in hexadecimal": each("&#x%x;"),
		"in JSON":                   quoted,
		"in JSON in JSON":           func(s string) string { return quoted(quoted(s)) },
		"in JSON, escaped":          each(`\u%04x`),
		"in Go":                     func(s string) string { s = fmt.Sprintf("%q", s); return s[1 : len(s)-1] },
		"all escaped":               each("%%%02x"),
		"in lines":                  lines("\n"),
		"in a folded header":        lines("\r\n\t "),
		"in lines, in JSON":         func(s string) string { return quoted(lines("\r\n")(s)) },
		"in lines, in a query":      func(s string) string { return url.QueryEscape(lines("\n")(s)) },
	}
	for _, secret := range []string{
		"hush-hush.4711+abc/def==", `h"u<s&h>u'1`, "hush hush 4711", `hush\nush%41`, "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJtZSJ9.c2ln-bmF0_dXJl", "hush",
	} {
		var m Redactor
		m.Add(Hide(strings.ToLower(secret)))
		m.Add(Hide(secret))
		for name, write := range writings {
			text := m.Text("{" + write(secret) + "}")
			require.Contains(t, text, Mask, "%s %s", secret, name)
			// Besides the mask, the text may contain escapes, such as the escape of == at the end
			// of a secret. Without them, no letter or digit may remain.
			left := escapes.ReplaceAllString(strings.ReplaceAll(text, Mask, ""), "")
			require.False(t, strings.ContainsFunc(left, func(r rune) bool { return r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'z' }), "%s %s: %s", secret, name, text)
		}
		if len(secret) < 8 {
			continue
		}
		for _, before := range []string{"", "B", "Be", "Bearer "} {
			for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding} {
				encoded := encoding.EncodeToString([]byte(before + secret + "\n"))
				text := m.Text(encoded)
				require.Contains(t, text, Mask, "%s after %q: %s", secret, before, encoded)
				require.Less(t, len(strings.ReplaceAll(text, Mask, "")), 4*len(before)/3+9, "%s after %q: %s", secret, before, text)
			}
		}
	}
	var m Redactor
	m.Add(Hide("hush-hush"))
	for _, text := range []string{"", "%", "%4", `\`, `\u00`, "&", "&#", "&#x;", "&amp", "hus h", "100%", "%zz", "+-+", "a hus", "\xff%ff"} {
		require.Equal(t, text, m.Text(text))
	}
	m.Add(Hide("+-=+"))
	require.Equal(t, "a [redacted] b", m.Text("a +-=+ b"), "a secret without normalized characters must be found only in its own form")
	require.Equal(t, "a b", m.Text("a b"))
}

func FuzzRedact(f *testing.F) {
	f.Add("hush-hush", "a hush-hush b")
	f.Add(`h"u<s&`, `a \u0068\"u%3c&#x73;&amp; b`)
	f.Add("a+b c", "a%2Bb+c\r\n")
	f.Fuzz(func(t *testing.T, secret, text string) {
		if len(secret) < minSecretLength || len(secret) > 1000 || len(text) > 10_000 {
			return
		}
		var m Redactor
		m.Add(Hide(secret))
		_ = m.Text(text)
		for _, shown := range []string{m.Text(secret), m.Text(text + secret), m.Text(secret + text), m.Text(text + "\x00" + secret + "\x00" + text)} {
			require.Contains(t, shown, Mask)
			for part := range strings.SplitSeq(shown, Mask) {
				require.NotContains(t, part, secret)
			}
		}
	})
}

// The prefix of a secret may repeat within the secret, or be in the text before the secret.
func TestSecretAfterItsOwnPrefixIsRedacted(t *testing.T) {
	t.Parallel()
	m := &Redactor{}
	m.Add(Hide("121212121212Secret/Rest"))
	require.Equal(t, "at [redacted].", m.Text("at 1212121212121212%53ecret%2fRest."))
}

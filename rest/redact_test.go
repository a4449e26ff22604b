package rest

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/listwatch"
)

// echoedCredentials returns a text that contains what the client sent, in the forms in which pages
// and servers write it.
func echoedCredentials(r *http.Request) string {
	sent := r.Header.Get("Authorization") + " " + r.Header.Get("Proxy-Authorization")
	_, password, _ := r.BasicAuth()
	if basic, ok := strings.CutPrefix(r.Header.Get("Proxy-Authorization"), "Basic "); ok {
		clear, _ := base64.StdEncoding.DecodeString(basic)
		_, password, _ = strings.Cut(string(clear), ":")
	}
	all := sent + " " + password
	quoted, _ := json.Marshal(all)
	return strings.Join([]string{all, html.EscapeString(all), url.QueryEscape(all), string(quoted), fmt.Sprintf("%q", all)}, " | ")
}

// echoes has the ways in which a server may send back the client's data.
var echoes = map[string]http.HandlerFunc{
	"a page with 502": func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusBadGateway)
		fmt.Fprint(w, "<html>", echoedCredentials(r))
	},
	"a page with 403": func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, "<html>", echoedCredentials(r))
	},
	"a page with 200": func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<html>", echoedCredentials(r))
	},
	"a page that says that it is JSON": func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, echoedCredentials(r))
	},
	"a page that says that it is protobuf": func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", mediaTypeProtobuf)
		fmt.Fprint(w, echoedCredentials(r))
	},
	"a content type": func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/"+r.Header.Get("Authorization"))
	},
	"a redirect": func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", "https://elsewhere/login/"+echoedCredentials(r))
		w.WriteHeader(http.StatusFound)
	},
	"a page in which an excerpt ends within it": func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusBadGateway)
		fmt.Fprint(w, strings.Repeat("x", maxTextBytes-9-len("Bearer ")), r.Header.Get("Authorization"))
	},
	"a page in which a short excerpt ends within it": func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, strings.Repeat("x", 256-9-len("Bearer ")), r.Header.Get("Authorization"))
	},
	"a Status": func(w http.ResponseWriter, r *http.Request) {
		text := echoedCredentials(r)
		w.WriteHeader(http.StatusForbidden)
		_ = json.NewEncoder(w).Encode(metav1.Status{
			TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, ListMeta: metav1.ListMeta{Continue: text},
			Status: metav1.StatusFailure, Reason: metav1.StatusReason("Forbidden " + text), Code: 403, Message: text,
			Details: &metav1.StatusDetails{Name: text, Group: text, Kind: text, UID: "1", Causes: []metav1.StatusCause{
				{Type: metav1.CauseType(text), Message: text, Field: text},
			}},
		})
	},
	"an ERROR event": func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		status, _ := json.Marshal(metav1.Status{Status: metav1.StatusFailure, Reason: "Expired", Code: 410, Message: echoedCredentials(r)})
		fmt.Fprintf(w, `{"type":"ERROR","object":%s}`, status)
	},
	"an event of an unknown type": func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		kind, _ := json.Marshal(r.Header.Get("Authorization"))
		fmt.Fprintf(w, `{"type":%s,"object":{}}`, kind)
	},
	"an object that cannot be decoded": func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		text, _ := json.Marshal(echoedCredentials(r))
		fmt.Fprintf(w, `{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a","creationTimestamp":%s}}}`, text)
	},
	"warnings": func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Warning", `299 - "`+strings.ReplaceAll(echoedCredentials(r), `"`, `\"`)+`"`)
		w.WriteHeader(http.StatusNotFound)
	},
}

// TestSentCredentialsAreRedactedInErrorsAndLogs: servers and proxies may send back the client's
// credentials, in every part of a response that may become part of an error or of a log line.
func TestSentCredentialsAreRedactedInErrorsAndLogs(t *testing.T) {
	t.Parallel()
	const token = "hush-hush.4711+abc/def=="
	file := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(file, []byte(token+"\n"), 0o600))
	configs := map[string]Config{
		"token": {BearerToken: NewSecret(token)},
		"file":  {BearerTokenFile: file},
		"basic": {Username: "me", Password: NewSecret("hush-hush 4711+<x>")},
		"short": {Username: "me", Password: NewSecret("hush")},
		"source": {Credentials: func(context.Context, *Credential) (*Credential, error) {
			return &Credential{Token: NewSecret(token)}, nil
		}},
	}
	for identity, cfg := range configs {
		for place, echo := range echoes {
			t.Run(identity+"/"+place, func(t *testing.T) {
				t.Parallel()
				var sent sync.Map
				server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					sent.Store(r.Header.Get("Authorization"), nil)
					echo(w, r)
				}))
				defer server.Close()
				var seen strings.Builder
				var mu sync.Mutex // guards seen
				see := func(text string) {
					mu.Lock()
					defer mu.Unlock()
					seen.WriteString(text + "\n")
				}
				cfg := cfg
				cfg.Host = server.URL
				client, err := NewClient(cfg, Options{
					Logger: slog.New(slog.NewTextHandler(writerFunc(see), nil)), MaxRetries: -1,
					Observer: &Observer{
						OnResponse: func(a ResponseInfo) { see(fmt.Sprintf("%+v", a)) }, OnStreamEnd: func(e StreamInfo) { see(fmt.Sprintf("%+v %v", e, e.Err)) },
						OnWarning: see,
					},
				})
				require.NoError(t, err)
				defer client.Close()
				pods := Must(NewResource[*corev1.Pod](client, podsGVR, ResourceOptions{}))
				failed := 0
				fail := func(err error) {
					if err == nil || err == io.EOF {
						return
					}
					failed++
					for ; err != nil; err = errors.Unwrap(err) {
						see(fmt.Sprintf("%v %+v %#v %d", err, err, err, err))
						data, _ := json.Marshal(err)
						see(string(data))
						if status, ok := err.(apierrors.APIStatus); ok {
							data, _ := json.Marshal(status.Status())
							see(string(data))
						}
					}
				}
				asked, again := "/", ""
				if identity != "basic" && identity != "short" {
					asked, again = "/api/"+token, token
				}
				_, err = client.Raw(t.Context(), "GET", asked, RawOptions{Query: url.Values{"a": {again}}})
				fail(err)
				_, err = pods.Get(t.Context(), types.NamespacedName{Namespace: "default", Name: "a"}, metav1.GetOptions{})
				fail(err)
				fail(listErr(t.Context(), pods))
				watch, err := pods.Watch(t.Context(), listwatch.WatchOptions{})
				fail(err)
				if err == nil {
					_, err = watch.Next()
					fail(err)
					require.NoError(t, watch.Close())
				}
				require.NotZero(t, failed)
				client.Close()
				sent.Range(func(value, _ any) bool {
					require.NotContains(t, seen.String(), strings.TrimPrefix(strings.TrimPrefix(value.(string), "Bearer "), "Basic "))
					return true
				})
				require.NotContains(t, seen.String(), "hush")
				require.Contains(t, seen.String(), "[redacted]")
			})
		}
	}
}

type writerFunc func(string)

func (f writerFunc) Write(p []byte) (int, error) {
	f(string(p))
	return len(p), nil
}

// TestProxyPasswordIsRedactedInErrors: a proxy may send the password back on its error page, or in
// the status line that refuses a tunnel.
func TestProxyPasswordIsRedactedInErrors(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var group sync.WaitGroup
	group.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			if r, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
				fmt.Fprintf(conn, "HTTP/1.1 407 who is %s\r\nContent-Length: %d\r\n\r\n%s", echoedCredentials(r), len(echoedCredentials(r)), echoedCredentials(r))
			}
			conn.Close()
		}
	})
	defer group.Wait()
	defer listener.Close()
	proxy := &url.URL{Scheme: "http", Host: listener.Addr().String(), User: url.UserPassword("me", "hush-hush")}
	for _, host := range []string{"http://kube.invalid", "https://kube.invalid"} {
		client, err := NewClient(Config{Host: host, Proxy: http.ProxyURL(proxy)}, Options{})
		require.NoError(t, err)
		defer client.Close()
		_, err = get(t.Context(), client)
		require.ErrorContains(t, err, "[redacted]")
		require.NotContains(t, err.Error(), "hush")
		require.NotContains(t, err.Error(), base64.StdEncoding.EncodeToString([]byte("me:hush-hush")))
	}
}

func TestRedactorRemembersTheLastSecrets(t *testing.T) {
	t.Parallel()
	var m redactor
	for i := range maxSecrets + 1 {
		m.addSecret(NewSecret(fmt.Sprintf("token-%02d", i)))
		m.addSecret(NewSecret(fmt.Sprintf("token-%02d", i)))
	}
	require.Len(t, m.secrets, maxSecrets)
	require.Equal(t, "token-00 [redacted] [redacted]", m.text("token-00 token-01 token-16"))
	m.addSecret(NewSecret("abc"))
	m.addSecret(NewSecret(""))
	require.Equal(t, "abc", m.text("abc"), "a secret of three characters must not be redacted")

	m = redactor{}
	m.addSecret(NewSecret("inner-secret"))
	m.addSecret(NewSecret("outer-inner-secret-outer"))
	require.Equal(t, "a [redacted] b", m.text("a outer-inner-secret-outer b"))
	require.Equal(t, "a [redacted]", m.text("a outer-inn"), "the first part of a truncated secret must be redacted")
	require.Equal(t, "a outer-i b", m.text("a outer-i b"), "a short part of a secret must not be redacted")
	require.Equal(t, "[redacted]", m.text("inner-secretinner-secret"), "adjacent secrets must become one placeholder")

	var none *redactor
	none.addSecret(NewSecret("inner-secret"))
	require.Equal(t, "inner-secret", none.text("inner-secret"))
	reason := errors.New("inner-secret")
	err := m.err(fmt.Errorf("%w: inner-secret", errors.Join(reason, context.Canceled)))
	require.EqualError(t, err, "[redacted]\ncontext canceled: [redacted]")
	require.ErrorIs(t, err, reason)
	require.ErrorIs(t, err, context.Canceled)
	require.NotErrorIs(t, err, io.EOF)

	m = redactor{}
	m.addBasicAuth("me", NewSecret("<a&b>"))
	require.Equal(t, "[redacted] [redacted] [redacted] [redacted]", m.text("<a&b> &lt;a&amp;b&gt; %3Ca%26b%3E bWU6PGEmYj4="))
}

// errors.As finds a wrapped error through a redacted error, unless this would show a secret.
func TestRedactedErrorSupportsErrorsAs(t *testing.T) {
	t.Parallel()
	m := redactor{}
	m.addSecret(NewSecret("inner-secret"))
	loud := &fs.PathError{Op: "open", Path: "inner-secret", Err: syscall.ENOENT}
	quiet := &net.OpError{Op: "dial", Err: os.ErrDeadlineExceeded}
	refused := apierrors.NewNotFound(schema.GroupResource{Resource: "pods"}, "inner-secret")
	err := m.err(fmt.Errorf("inner-secret: %w", errors.Join(quiet, loud, refused)))
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
	err = m.err(fmt.Errorf("inner-secret: %w", silentError{loud}))
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
		var m redactor
		m.addSecret(NewSecret(strings.ToLower(secret)))
		m.addSecret(NewSecret(secret))
		for name, write := range writings {
			text := m.text("{" + write(secret) + "}")
			require.Contains(t, text, redacted, "%s %s", secret, name)
			// left may have escapes, such as the escape of == at the end
			left := escapes.ReplaceAllString(strings.ReplaceAll(text, redacted, ""), "")
			require.False(t, strings.ContainsFunc(left, func(r rune) bool { return r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'z' }), "%s %s: %s", secret, name, text)
		}
		if len(secret) < 8 {
			continue
		}
		for _, before := range []string{"", "B", "Be", "Bearer "} {
			for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding} {
				encoded := encoding.EncodeToString([]byte(before + secret + "\n"))
				text := m.text(encoded)
				require.Contains(t, text, redacted, "%s after %q: %s", secret, before, encoded)
				require.Less(t, len(strings.ReplaceAll(text, redacted, "")), 4*len(before)/3+9, "%s after %q: %s", secret, before, text)
			}
		}
	}
	var m redactor
	m.addSecret(NewSecret("hush-hush"))
	for _, text := range []string{"", "%", "%4", `\`, `\u00`, "&", "&#", "&#x;", "&amp", "hus h", "100%", "%zz", "+-+", "a hus", "\xff%ff"} {
		require.Equal(t, text, m.text(text))
	}
	m.addSecret(NewSecret("+-=+"))
	require.Equal(t, "a [redacted] b", m.text("a +-=+ b"), "a secret without normalized characters must be found only in its own form")
	require.Equal(t, "a b", m.text("a b"))
}

func FuzzRedact(f *testing.F) {
	f.Add("hush-hush", "a hush-hush b")
	f.Add(`h"u<s&`, `a \u0068\"u%3c&#x73;&amp; b`)
	f.Add("a+b c", "a%2Bb+c\r\n")
	f.Fuzz(func(t *testing.T, secret, text string) {
		if len(secret) < minSecretLength || len(secret) > 1000 || len(text) > 10_000 {
			return
		}
		var m redactor
		m.addSecret(NewSecret(secret))
		_ = m.text(text)
		for _, shown := range []string{m.text(secret), m.text(text + secret), m.text(secret + text), m.text(text + "\x00" + secret + "\x00" + text)} {
			require.Contains(t, shown, redacted)
			for part := range strings.SplitSeq(shown, redacted) {
				require.NotContains(t, part, secret)
			}
		}
	})
}

// The prefix of a secret may repeat within the secret, or be in the text before the secret.
func TestSecretAfterItsOwnPrefixIsRedacted(t *testing.T) {
	t.Parallel()
	m := &redactor{}
	m.addSecret(newSecret("121212121212Secret/Rest"))
	require.Equal(t, "at [redacted].", m.text("at 1212121212121212%53ecret%2fRest."))
}

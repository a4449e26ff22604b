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
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kinform/kinform/listwatch"
	"github.com/kinform/kinform/rest/internal/decode"
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
		fmt.Fprint(w, strings.Repeat("x", decode.MaxTextBytes-9-len("Bearer ")), r.Header.Get("Authorization"))
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

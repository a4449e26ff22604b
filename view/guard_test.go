package view

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// ask sends a request to the page. It returns the status code, the body and the header of the
// response.
func (r *rig) ask(t testing.TB, method, path string, body string, change func(*http.Request)) (int, string, http.Header) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, r.url+path, strings.NewReader(body))
	require.NoError(t, err)
	if change != nil {
		change(request)
	}
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	answer, err := transport.RoundTrip(request)
	require.NoError(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return answer.StatusCode, string(text), answer.Header
}

func TestReadAccess(t *testing.T) {
	t.Parallel()
	r := start(t, Options{Hosts: []string{"view.example"}}, 1, nil)
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	host := func(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }
	own := strings.TrimSuffix(r.url, "/")
	for _, path := range []string{"parts", ""} {
		for name, tt := range map[string]struct {
			change func(*http.Request)
			want   int
		}{
			"nothing special":                        {nil, 200},
			"localhost":                              {host("localhost:80"), 200},
			"an address":                             {host("[::1]:9"), 200},
			"a name that is set":                     {host("View.Example:1"), 200},
			"another name":                           {host("evil.example"), 403},
			"another name that begins as an address": {host("127.0.0.1.evil.example"), 403},
			"no name":                                {host("."), 403},
		} {
			code, _, _ := r.ask(t, http.MethodGet, path, "", tt.change)
			require.Equal(t, tt.want, code, "%q: %s", path, name)
		}
	}
	for name, tt := range map[string]struct {
		change func(*http.Request)
		want   int
	}{
		"own origin":            {header("Origin", own), 200},
		"another origin":        {header("Origin", "http://evil.example"), 403},
		"another port":          {header("Origin", "http://127.0.0.1:1"), 403},
		"an origin in hiding":   {header("Origin", "null"), 403},
		"a script of its own":   {header("Sec-Fetch-Site", "same-origin"), 200},
		"typed by a person":     {header("Sec-Fetch-Site", "none"), 200},
		"a page of others":      {header("Sec-Fetch-Site", "cross-site"), 403},
		"a page of a neighbour": {header("Sec-Fetch-Site", "same-site"), 403},
	} {
		code, _, _ := r.ask(t, http.MethodGet, "parts", "", tt.change)
		require.Equal(t, tt.want, code, name)
		if tt.want != 200 {
			code, _, _ = r.ask(t, http.MethodGet, "stream", "", tt.change)
			require.Equal(t, tt.want, code, name)
		}
	}
	code, text, _ := r.ask(t, http.MethodPost, "do", "{}", nil)
	require.Equal(t, 404, code)
	require.Contains(t, text, "no laboratory")
	code, _, _ = r.ask(t, http.MethodPost, "", "", nil)
	require.Equal(t, 405, code)
	for _, path := range []string{"nothing.js", "..%2Fview.go", "page"} {
		code, _, _ = r.ask(t, http.MethodGet, path, "", nil)
		require.Equal(t, 404, code, path)
	}
}

func TestPageHasAContentSecurityPolicy(t *testing.T) {
	t.Parallel()
	r := start(t, Options{}, 1, nil)
	code, text, header := r.ask(t, http.MethodGet, "any/where/", "", nil)
	require.Equal(t, 200, code)
	require.Contains(t, text, "<!doctype html>")
	require.Equal(t, contentSecurityPolicy, header.Get("Content-Security-Policy"))
	require.NotContains(t, contentSecurityPolicy, "unsafe")
	require.Equal(t, "nosniff", header.Get("X-Content-Type-Options"))
	require.NotContains(t, text, "http://", "the page must load nothing from other origins")
	require.NotContains(t, text, "https://", "the page must load nothing from other origins")
}

func TestIsLoopback(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{
		"127.0.0.1:1": true, "[::1]:2": true, "[::ffff:127.0.0.1]:3": true, "127.9.9.9:4": true,
		"10.0.0.1:1": false, "[2001:db8::1]:1": false, "": false, "@": false, "localhost:1": false,
	} {
		require.Equal(t, want, isLoopback(address), address)
	}
}

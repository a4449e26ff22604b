package disk_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kinform/kinform/apitest"
)

// cacheableHandler returns a handler that sends a body and headers, or 304 if the request has the
// ETag.
func cacheableHandler(body string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		if tag := w.Header().Get("Etag"); tag != "" && tag == r.Header.Get("If-None-Match") {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = w.Write([]byte(body))
	}
}

// get requests a path with a new client, as each run of a program does.
func get(t *testing.T, f *countingServer, directory, path, accept string) string {
	t.Helper()
	body, err := f.client(t, t.TempDir(), directory).RESTClient().Get().RequestURI(path).SetHeader("Accept", accept).DoRaw(t.Context())
	require.NoError(t, err)
	return string(body)
}

func TestWhichResponsesAreCached(t *testing.T) {
	tomorrow, yesterday := time.Now().Add(24*time.Hour).UTC().Format(http.TimeFormat), time.Now().Add(-24*time.Hour).UTC().Format(http.TimeFormat)
	for name, test := range map[string]struct {
		headers []string
		asked   int  // number of requests for two calls of get
		tagged  bool // the second request has the ETag
	}{
		"nothing said":      {nil, 2, false},
		"a tag":             {[]string{"Etag", `"1"`}, 2, true},
		"discovery":         {[]string{"Etag", `"1"`, "Vary", "Accept", "Cache-Control", "public"}, 2, true},
		"OpenAPI v3":        {[]string{"Etag", `"1"`, "Vary", "Accept-Encoding, Accept", "Cache-Control", "public, immutable", "Expires", tomorrow}, 1, false},
		"as kube-apiserver": {[]string{"Etag", `"1"`, "Vary", "Accept", "Cache-Control", "public, immutable", "Expires", time.Now().AddDate(1, 0, 0).UTC().Format(time.RFC1123)}, 1, false},
		"an age":            {[]string{"Cache-Control", "max-age=60"}, 1, false},
		"no age":            {[]string{"Cache-Control", "max-age=0"}, 2, false},
		"an age, no cache":  {[]string{"Cache-Control", "no-cache, max-age=60", "Etag", `"1"`}, 2, true},
		"expired":           {[]string{"Expires", yesterday}, 2, false},
		"not to be kept":    {[]string{"Cache-Control", "no-store", "Etag", `"1"`}, 2, false},
		"a cookie":          {[]string{"Set-Cookie", "a=b", "Etag", `"1"`}, 2, false},
		"by user":           {[]string{"Vary", "Authorization", "Etag", `"1"`}, 2, false},
		"bad age":           {[]string{"Cache-Control", "max-age=x", "Expires", tomorrow}, 2, false},
	} {
		f, directory := newCountingServer(t, apitest.Options{}), t.TempDir()
		f.set("/x", cacheableHandler("body", test.headers...))
		for range 2 {
			require.Equal(t, "body", get(t, f, directory, "/x", "a/b"), name)
		}
		require.Equal(t, test.asked, f.requestCounts()["/x"], name)
		require.Equal(t, test.tagged, len(f.etags()) == 1, name)
		for file, content := range files(t, directory) {
			require.NotContains(t, content, "secret", file)
			require.NotContains(t, content, "Cookie", file)
		}
	}
}

func TestACachedResponseFitsPathAndAcceptHeader(t *testing.T) {
	f, directory := newCountingServer(t, apitest.Options{}), t.TempDir()
	for i := range 3 {
		tag := fmt.Sprint(i)
		f.set("/x", func(w http.ResponseWriter, r *http.Request) {
			cacheableHandler("a="+r.URL.Query().Get("a")+r.Header.Get("Accept")+tag, "Etag", `"`+tag+`"`)(w, r)
		})
		for range 2 {
			require.Equal(t, "a=1a/b"+tag, get(t, f, directory, "/x?a=1", "a/b"))
			require.Equal(t, "a=1c/d"+tag, get(t, f, directory, "/x?a=1", "c/d"))
		}
	}
	require.Equal(t, "a=2a/b2", get(t, f, directory, "/x?a=2", "a/b"), "other query parameters identify another document")
	require.Len(t, files(t, directory), 2, "a document replaces earlier documents of the same path")
}

func TestCorruptEntriesAreRequestedAgain(t *testing.T) {
	f, directory := newCountingServer(t, apitest.Options{}), t.TempDir()
	f.set("/x", cacheableHandler("a body", "Cache-Control", "max-age=60"))
	require.Equal(t, "a body", get(t, f, directory, "/x", "a/b"))
	for name, content := range files(t, directory) {
		for _, spoilt := range []string{"", "{}\na body", content[:len(content)-1], strings.Replace(content, "a body", "b body", 1), strings.Replace(content, "a/b", "c/d", 1), content + "x"} {
			f.requestCounts()
			require.NoError(t, os.WriteFile(filepath.Join(directory, name), []byte(spoilt), 0o600))
			require.Equal(t, "a body", get(t, f, directory, "/x", "a/b"))
			require.Equal(t, 1, f.requestCounts()["/x"], spoilt)
		}
	}
}

// A response that ends early must not be used later as if it were complete. Errors are not stored
// either.
func TestTruncatedResponsesAreNotCached(t *testing.T) {
	f, directory := newCountingServer(t, apitest.Options{}), t.TempDir()
	f.set("/x", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Etag", `"1"`)
		w.Header().Set("Content-Length", "100")
		_, _ = w.Write([]byte("half"))
	})
	f.set("/y", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Etag", `"1"`)
		http.Error(w, "no", http.StatusForbidden)
	})
	c := f.client(t, t.TempDir(), directory).RESTClient()
	for _, path := range []string{"/x", "/y"} {
		_, err := c.Get().AbsPath(path).DoRaw(t.Context())
		require.Error(t, err, path)
	}
	require.Empty(t, files(t, directory))
	// The response to a write never comes from a file.
	f.set("/z", cacheableHandler("body", "Cache-Control", "max-age=60"))
	for range 2 {
		_, err := c.Post().AbsPath("/z").DoRaw(t.Context())
		require.NoError(t, err)
	}
	require.Equal(t, 2, f.requestCounts()["/z"])
}

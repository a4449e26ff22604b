package testing_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	utiltesting "k8s.io/client-go/util/testing"
)

// recordingT is a test that records its errors.
type recordingT []string

func (v *recordingT) Errorf(format string, args ...any) {
	*v = append(*v, fmt.Sprintf(format, args...))
}
func (v *recordingT) Logf(string, ...any) {}

func TestAHandlerRemembersTheLastRequest(t *testing.T) {
	h := &utiltesting.FakeHandler{StatusCode: 201, T: t, SkipRequestFn: func(verb string, _ url.URL) bool { return verb == "HEAD" }}
	h.SetResponseBody("answer")
	do := func(method, path, body string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(method, path, strings.NewReader(body)))
		return w
	}
	w := do("POST", "/a/b?x=y", "sent")
	require.Equal(t, []any{201, "answer", "application/json"}, []any{w.Code, w.Body.String(), w.Header().Get("Content-Type")})
	do("HEAD", "/other", "")
	sent, other := "sent", "other"
	var v recordingT
	require.True(t, h.ValidateRequestCount(&v, 1))
	h.ValidateRequest(&v, "/a/b?x=y", "POST", &sent)
	require.Empty(t, v)
	h.ValidateRequest(&v, "/a/c?x=z", "GET", &other)
	require.Len(t, v, 4)
	require.False(t, h.ValidateRequestCount(&v, 2))
	require.Len(t, v, 5)
	require.PanicsWithValue(t, "got request after having been validated", func() { do("GET", "/a", "") })
}

func TestAServerOfDocuments(t *testing.T) {
	dir := utiltesting.MkTmpdirOrDie("specs")
	defer os.RemoveAll(dir)
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "apps"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "apps", "v1.json"), []byte(`{"openapi":"3.0.0","info":{"title":"t","version":"1"},"paths":{}}`), 0o600))
	s, err := utiltesting.NewFakeOpenAPIV3Server(dir)
	require.NoError(t, err)
	defer s.HttpServer.Close()
	require.Contains(t, s.ServedDocuments, "apps/v1")
	get := func(path string) string {
		resp, err := http.Get(s.HttpServer.URL + path)
		require.NoError(t, err)
		defer func() { require.NoError(t, resp.Body.Close()) }()
		body, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return string(body)
	}
	require.Contains(t, get("/openapi/v3"), `"apps/v1":{"serverRelativeURL":"/openapi/v3/apps/v1?hash=`)
	require.JSONEq(t, `{"openapi":"3.0.0","info":{"title":"t","version":"1"},"paths":{}}`, get("/openapi/v3/apps/v1"))
	require.Equal(t, map[string]int{"/openapi/v3": 1, "/openapi/v3/apps/v1": 1}, s.RequestCounters)
	// A caching client asks only once for a document whose address has its hash.
	_, address, _ := strings.Cut(get("/openapi/v3"), `"serverRelativeURL":"`)
	address, _, _ = strings.Cut(address, `"`)
	resp, err := http.Get(s.HttpServer.URL + address)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.NotEmpty(t, resp.Header.Get("Etag"))
	require.Equal(t, "public, immutable", resp.Header.Get("Cache-Control"))
	require.NotEmpty(t, resp.Header.Get("Expires"))

	require.NoError(t, os.WriteFile(filepath.Join(dir, "bad.json"), []byte(`{`), 0o600))
	_, err = utiltesting.NewFakeOpenAPIV3Server(dir)
	require.ErrorContains(t, err, "bad.json is no OpenAPI v3 document")
}

func TestTemporaryFiles(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "f"))
	require.NoError(t, err)
	utiltesting.CloseAndRemove(t, f)
	require.NoFileExists(t, f.Name())
	_, err = utiltesting.MkTmpdir("no/such")
	require.Error(t, err)
}

package rest

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// authServer is a server that accepts requests with the right Authorization, and records all
// requests.
type authServer struct {
	mu   sync.Mutex // guards following
	want string
	got  string
}

func (g *authServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.got = r.Header.Get("Authorization"); g.want != "" && g.got != g.want {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	_, _ = io.WriteString(w, "in")
}

// wants sets the accepted Authorization.
func (g *authServer) wants(authorization string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.want = authorization
}

func TestCredentialsAreSent(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(file, []byte("from-file\n"), 0o600))
	for want, cfg := range map[string]Config{
		"":                     {},
		"Bearer abc":           {BearerToken: NewSecret("abc")},
		"Basic bWU6c2VjcmV0":   {Username: "me", Password: NewSecret("secret")},
		"Bearer from-file":     {BearerTokenFile: file, BearerToken: NewSecret("until then")},
		"Bearer only-fallback": {BearerTokenFile: file + "-missing", BearerToken: NewSecret("only-fallback")},
	} {
		handler := &authServer{}
		cfg.Host = serve(t, handler, Options{}).base.String()
		client, err := NewClient(cfg, Options{})
		require.NoError(t, err)
		_, err = client.Raw(t.Context(), http.MethodGet, "/", RawOptions{})
		require.NoError(t, err)
		require.Equal(t, want, handler.got)
		client.Close()
	}
}

func TestUnauthorizedReloadsTheToken(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(file, []byte("old"), 0o600))
	handler := &authServer{want: "Bearer new"}
	client, err := NewClient(Config{Host: serve(t, handler, Options{}).base.String(), BearerTokenFile: file}, Options{})
	require.NoError(t, err)
	defer client.Close()
	require.NoError(t, os.WriteFile(file, []byte("new"), 0o600))
	_, err = client.Raw(t.Context(), http.MethodGet, "/", RawOptions{})
	require.NoError(t, err)
	handler.wants("Bearer newer")
	_, err = client.Raw(t.Context(), http.MethodGet, "/", RawOptions{})
	require.True(t, apierrors.IsUnauthorized(err), "the client must retry only once after a 401")
	require.NotContains(t, err.Error(), "new")
}

func TestInvalidTokenIsNotShown(t *testing.T) {
	t.Parallel()
	client, err := NewClient(Config{Host: "http://127.0.0.1:1", BearerToken: NewSecret("hush\nhush")}, Options{})
	require.NoError(t, err)
	defer client.Close()
	_, err = client.Raw(t.Context(), http.MethodGet, "/", RawOptions{})
	require.Error(t, err)
	require.NotContains(t, err.Error(), "hush")
}

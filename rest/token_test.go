package rest

import (
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kinform/kinform/rest/internal/transport"
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

func TestTokenFileIsReloaded(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "token")
	write := func(token string) { require.NoError(t, os.WriteFile(file, []byte(token), 0o600)) }
	synctest.Test(t, func(t *testing.T) {
		write("one")
		f := &tokenFile{path: file, logger: slog.New(slog.DiscardHandler)}
		get := func() string {
			token, err := f.get(t.Context(), transport.ReloadTimeout)
			require.NoError(t, err)
			return token.Reveal()
		}
		require.Equal(t, "one", get())

		write("two")
		time.Sleep(transport.ReloadInterval - 1)
		require.Equal(t, "one", get(), "the file must be read at most once a minute")
		time.Sleep(time.Nanosecond)
		require.Equal(t, "two", get())

		require.NoError(t, os.Remove(file))
		time.Sleep(transport.ReloadInterval)
		require.Equal(t, "two", get(), "the last valid token must stay in use")

		write("three")
		f.expireIfCurrent(NewSecret("one"))
		require.Equal(t, "two", get(), "a 401 for an earlier token must not reload the file")
		f.expireIfCurrent(NewSecret("two"))
		require.Equal(t, "three", get(), "a 401 for the current token must reload the file")
	})
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

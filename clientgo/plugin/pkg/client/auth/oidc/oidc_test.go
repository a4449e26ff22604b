package oidc_test

import (
	"context"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	_ "k8s.io/client-go/plugin/pkg/client/auth/oidc"
	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// token returns an ID token that expires after a duration.
func token(ends time.Duration) string {
	part := func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
	return part(`{"alg":"none"}`) + "." + part(fmt.Sprintf(`{"exp":%d}`, time.Now().Add(ends).Unix())) + ".signature"
}

// issuer exchanges refresh tokens. It accepts the token "first" and then the token "second", each
// once.
type issuer struct {
	*httptest.Server
	refreshes atomic.Int32
	respond   func(w http.ResponseWriter)
}

func startIssuer(t *testing.T) *issuer {
	i := &issuer{}
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"token_endpoint":%q}`, i.URL+"/token")
	})
	mux.HandleFunc("/token", func(w http.ResponseWriter, r *http.Request) {
		n := i.refreshes.Add(1)
		w.Header().Set("Content-Type", "application/json")
		if i.respond != nil {
			i.respond(w)
			return
		}
		if want := map[int32]string{1: "first", 2: "second"}[n]; r.FormValue("refresh_token") != want {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		fmt.Fprintf(w, `{"access_token":"a","token_type":"Bearer","id_token":%q,"refresh_token":"second"}`, token(time.Hour))
	})
	i.Server = httptest.NewTLSServer(mux)
	t.Cleanup(i.Close)
	return i
}

// recordingPersister records the configurations that the persister received.
type recordingPersister struct {
	mu     sync.Mutex // guards following
	config map[string]string
	err    error
}

func (k *recordingPersister) Persist(config map[string]string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.config = config
	return k.err
}

func (i *issuer) client(t *testing.T, server string, k *recordingPersister, more map[string]string) *http.Client {
	config := map[string]string{
		"idp-issuer-url": i.URL, "client-id": t.Name(), "client-secret": "s", "refresh-token": "first",
		"idp-certificate-authority-data": base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: i.Certificate().Raw})),
	}
	for key, value := range more {
		config[key] = value
	}
	client, err := rest.HTTPClientFor(&rest.Config{Host: server, AuthProvider: &clientcmdapi.AuthProviderConfig{Name: "oidc", Config: config}, AuthConfigPersister: k})
	require.NoError(t, err)
	t.Cleanup(client.CloseIdleConnections)
	return client
}

func TestTokenIsRefreshedOnceAndPersisted(t *testing.T) {
	var last atomic.Value
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { last.Store(r.Header.Get("Authorization")) }))
	defer server.Close()
	i, k := startIssuer(t), &recordingPersister{}
	// the token expires too soon to be used
	client := i.client(t, server.URL, k, map[string]string{"id-token": token(time.Second)})
	var asking sync.WaitGroup
	for range 8 {
		asking.Go(func() {
			resp, err := client.Get(server.URL)
			if err == nil {
				_ = resp.Body.Close()
			}
		})
	}
	asking.Wait()
	require.EqualValues(t, 1, i.refreshes.Load())
	require.Equal(t, "second", k.config["refresh-token"])
	require.Equal(t, "Bearer "+k.config["id-token"], last.Load())
}

func TestACancelledRequestDoesNotLoseTheRefreshToken(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	i, k := startIssuer(t), &recordingPersister{}
	asked, release := make(chan struct{}), make(chan struct{})
	i.respond = func(w http.ResponseWriter) {
		close(asked)
		<-release
		fmt.Fprintf(w, `{"access_token":"a","token_type":"Bearer","id_token":%q,"refresh_token":"second"}`, token(time.Hour))
	}
	client := i.client(t, server.URL, k, nil)
	ctx, giveUp := context.WithCancel(t.Context())
	var asking sync.WaitGroup
	get := func() error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL, nil)
		require.NoError(t, err)
		got, err := client.Do(req)
		if err == nil {
			_ = got.Body.Close()
		}
		return err
	}
	asking.Go(func() { _ = get() })
	<-asked // the issuer accepts a refresh token once, and has accepted this token
	giveUp()
	require.ErrorIs(t, get(), context.Canceled, "the end of its context ends a caller's wait for another caller's refresh")
	close(release)
	asking.Wait()
	got, err := client.Get(server.URL)
	require.NoError(t, err)
	require.NoError(t, got.Body.Close())
	require.Equal(t, "second", k.config["refresh-token"])
	require.EqualValues(t, 1, i.refreshes.Load())
}

func TestARequestWithoutATokenHasItsBodyClosed(t *testing.T) {
	client := startIssuer(t).client(t, "http://127.0.0.1:1", &recordingPersister{}, map[string]string{"refresh-token": ""})
	from, to := io.Pipe()
	_, err := client.Post("http://127.0.0.1:1", "text/plain", from)
	require.ErrorContains(t, err, "cannot refresh")
	_, err = to.Write([]byte("x"))
	require.ErrorIs(t, err, io.ErrClosedPipe)
}

func TestAValidTokenIsUsed(t *testing.T) {
	good := token(time.Hour)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+good {
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	defer server.Close()
	i := startIssuer(t)
	resp, err := i.client(t, server.URL, &recordingPersister{}, map[string]string{"id-token": good}).Get(server.URL)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, http.StatusOK, resp.StatusCode)
	require.Zero(t, i.refreshes.Load())
}

func TestErrorsContainNoTokens(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	for says, more := range map[string]map[string]string{
		"cannot refresh":       {"refresh-token": ""},
		"not a valid JWT":      {"id-token": "secret"},
		"400 Bad Request":      {"refresh-token": "secret"},
		"openid-configuration": {"idp-issuer-url": "http://127.0.0.1:1/secret?"},
	} {
		t.Run(says, func(t *testing.T) {
			_, err := startIssuer(t).client(t, server.URL, &recordingPersister{}, more).Get(server.URL)
			require.ErrorContains(t, err, says)
		})
	}
	t.Run("no id token", func(t *testing.T) {
		i := startIssuer(t)
		i.respond = func(w http.ResponseWriter) { fmt.Fprint(w, `{"access_token":"secret","token_type":"Bearer"}`) }
		_, err := i.client(t, server.URL, &recordingPersister{}, nil).Get(server.URL)
		require.ErrorContains(t, err, "id_token")
		require.NotContains(t, err.Error(), "secret")
	})
	t.Run("not kept", func(t *testing.T) {
		i := startIssuer(t)
		client := i.client(t, server.URL, &recordingPersister{err: errors.New("read-only")}, nil)
		_, err := client.Get(server.URL)
		require.ErrorContains(t, err, "read-only")
		resp, err := client.Get(server.URL) // the tokens are cached in memory
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
	})
	for _, config := range []map[string]string{{"client-id": "c"}, {"idp-issuer-url": "u"}, {"idp-issuer-url": "u", "client-id": "bad", "idp-certificate-authority-data": "!"}} {
		_, err := rest.HTTPClientFor(&rest.Config{AuthProvider: &clientcmdapi.AuthProviderConfig{Name: "oidc", Config: config}})
		require.ErrorContains(t, err, "oidc")
	}
}

package transport

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"golang.org/x/oauth2"

	"k8s.io/client-go/features"
	featurestesting "k8s.io/client-go/features/testing"
	"k8s.io/client-go/util/cert"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// recordingTransport is a round tripper that records the last request.
type recordingTransport struct {
	request *http.Request
	code    int
}

func (s *recordingTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	s.request = req
	code := s.code
	if code == 0 {
		code = http.StatusOK
	}
	return &http.Response{StatusCode: code, Body: http.NoBody, Request: req}, nil
}

func send(t *testing.T, rt http.RoundTripper, headers ...string) {
	t.Helper()
	req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://host/", nil)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	before := len(req.Header)
	resp, err := rt.RoundTrip(req)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Len(t, req.Header, before, "the caller's request is unchanged")
}

func TestHeadersOfAConfigurationAreSent(t *testing.T) {
	inner := &recordingTransport{}
	rt, err := New(&Config{
		Transport: inner, UserAgent: "agent", BearerToken: "secret",
		Impersonate: ImpersonationConfig{UserName: "jane", UID: "7", Groups: []string{"a", "b"}, Extra: map[string][]string{"Scopes/x%": {"1", "2"}}},
	})
	require.NoError(t, err)
	send(t, rt)
	require.Equal(t, http.Header{
		"User-Agent": {"agent"}, "Authorization": {"Bearer secret"}, "Impersonate-User": {"jane"}, "Impersonate-Uid": {"7"},
		"Impersonate-Group": {"a", "b"}, "Impersonate-Extra-Scopes%2fx%25": {"1", "2"},
	}, inner.request.Header)

	send(t, rt, "Authorization", "mine", "User-Agent", "own", "Impersonate-User", "joe")
	require.Equal(t, http.Header{"User-Agent": {"own"}, "Authorization": {"mine"}, "Impersonate-User": {"joe"}}, inner.request.Header)

	_, err = New(&Config{Transport: inner, Username: "a", Password: "b", BearerToken: "c"})
	require.Error(t, err)
	_, err = New(&Config{Transport: inner, TLS: TLSConfig{Insecure: true}})
	require.Error(t, err)
}

func TestProxyHeadersReplaceRequestHeaders(t *testing.T) {
	inner := &recordingTransport{}
	send(t, NewAuthProxyRoundTripper("jane", "", []string{"a"}, map[string][]string{"k": {"v"}}, inner),
		"X-Remote-User", "evil", "X-Remote-Extra-Admin", "yes", "X-Remote-Group", "masters", "X-Remote-Uid", "0")
	require.Equal(t, http.Header{"X-Remote-User": {"jane"}, "X-Remote-Group": {"a"}, "X-Remote-Extra-K": {"v"}}, inner.request.Header)
}

func TestWrappersAreCalledInTheirOrder(t *testing.T) {
	require.Nil(t, Wrappers(nil, nil))
	var order []string
	wrapper := func(name string) WrapperFunc {
		return func(rt http.RoundTripper) http.RoundTripper { order = append(order, name); return rt }
	}
	config := &Config{Transport: &recordingTransport{}}
	config.Wrap(wrapper("a"))
	config.Wrap(wrapper("b"))
	_, err := New(config)
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b"}, order)

	ctx, cancel := context.WithCancel(t.Context())
	ended := errors.New("over")
	rt := ContextCanceller(ctx, ended)(&recordingTransport{})
	send(t, rt)
	cancel()
	_, err = rt.RoundTrip(httptest.NewRequest(http.MethodGet, "http://host/", nil)) //nolint:bodyclose // there is no body
	require.ErrorIs(t, err, ended)
}

func TestTokenFileIsReread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "token")
		require.NoError(t, os.WriteFile(file, []byte("one\n"), 0o600))
		inner := &recordingTransport{}
		rt, err := NewBearerAuthWithRefreshRoundTripper("", file, inner)
		require.NoError(t, err)
		token := func() string { send(t, rt); return inner.request.Header.Get("Authorization") }
		require.Equal(t, "Bearer one", token())

		require.NoError(t, os.WriteFile(file, []byte("two"), 0o600))
		require.Equal(t, "Bearer one", token())
		time.Sleep(time.Minute)
		require.Equal(t, "Bearer two", token())

		require.NoError(t, os.Remove(file))
		time.Sleep(time.Minute)
		require.Equal(t, "Bearer two", token(), "the last good token stays in use")

		require.NoError(t, os.WriteFile(file, []byte("three"), 0o600))
		time.Sleep(time.Second)
		inner.code = http.StatusUnauthorized
		send(t, rt)
		inner.code = 0
		require.Equal(t, "Bearer three", token(), "after a 401 response, the file is read again")
	})
}

func TestTokenIsCachedUntilItExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		source := NewCachedTokenSource(sourceFunc(func() (*oauth2.Token, error) {
			calls++
			return &oauth2.Token{AccessToken: "x", Expiry: time.Now().Add(time.Minute)}, nil
		}))
		for range 3 {
			_, err := source.Token()
			require.NoError(t, err)
		}
		require.Equal(t, 1, calls)
		time.Sleep(time.Minute)
		_, err := source.Token()
		require.NoError(t, err)
		require.Equal(t, 2, calls)
	})
}

// As in client-go, a token without an expiry is not cached: the source is called for each request.
func TestATokenWithoutExpiryIsNotCached(t *testing.T) {
	calls := 0
	source := NewCachedTokenSource(sourceFunc(func() (*oauth2.Token, error) {
		calls++
		return &oauth2.Token{AccessToken: "x"}, nil
	}))
	for range 3 {
		_, err := source.Token()
		require.NoError(t, err)
	}
	require.Equal(t, 3, calls)
}

// The source is called for each request. It may return another token before the last token has
// expired. If the source returns an error, the request fails.
func TestATokenSourceIsCalledForEachRequest(t *testing.T) {
	calls := 0
	inner := &recordingTransport{code: http.StatusUnauthorized}
	rt := TokenSourceWrapTransport(tokens(func() (*oauth2.Token, error) {
		if calls++; calls == 3 {
			return nil, errors.New("no token")
		}
		return &oauth2.Token{AccessToken: strconv.Itoa(calls), Expiry: time.Now().Add(time.Hour)}, nil
	}))(inner)
	for _, token := range []string{"1", "2"} {
		send(t, rt)
		require.Equal(t, "Bearer "+token, inner.request.Header.Get("Authorization"))
	}
	_, err := rt.RoundTrip(httptest.NewRequest(http.MethodGet, "http://host/", nil))
	require.EqualError(t, err, "no token")
	_, err = TokenSourceWrapTransport(tokens(func() (*oauth2.Token, error) { return nil, nil }))(inner).RoundTrip(httptest.NewRequest(http.MethodGet, "http://host/", nil))
	require.EqualError(t, err, "the source has no token")
}

// Embedding exports the lock of a source, so a program may hold the lock.
func TestACachedTokenSourceMayBeLockedByItsCaller(t *testing.T) {
	var source *cachingTokenSource
	source = NewCachedTokenSource(sourceFunc(func() (*oauth2.Token, error) {
		require.False(t, source.TryRLock(), "the lock is held while a token is fetched")
		return &oauth2.Token{AccessToken: "x", Expiry: time.Now().Add(time.Hour)}, nil
	}))
	_, err := source.Token()
	require.NoError(t, err)

	source.RLock()
	defer source.RUnlock()
	token, err := source.Token()
	require.NoError(t, err)
	require.Equal(t, "x", token.AccessToken, "a cached token can be read while a reader holds the lock")
}

type sourceFunc func() (*oauth2.Token, error)

func (f sourceFunc) Token() (*oauth2.Token, error) { return f() }

func TestEqualConfigurationsShareConnections(t *testing.T) {
	config := func() *Config { return &Config{TLS: TLSConfig{Insecure: true, ServerName: "share.example"}} }
	one, err := New(config())
	require.NoError(t, err)
	two, err := New(config())
	require.NoError(t, err)
	require.Same(t, one, two)
	other, err := New(&Config{TLS: TLSConfig{Insecure: true, ServerName: "other.example"}})
	require.NoError(t, err)
	require.NotSame(t, one, other)

	alone := config()
	alone.Proxy = func(*http.Request) (*url.URL, error) { return nil, nil }
	apart, err := New(alone)
	require.NoError(t, err)
	require.NotEqual(t, one, apart)
	plain, err := New(&Config{})
	require.NoError(t, err)
	require.Equal(t, http.DefaultTransport, plain)
	runtime.KeepAlive(two)
}

func TestUnusedTransportsAreDropped(t *testing.T) {
	c := &cache{entries: map[key]*entry{}}
	rt, err := c.get(&Config{TLS: TLSConfig{Insecure: true}})
	require.NoError(t, err)
	require.Len(t, c.entries, 1)
	runtime.KeepAlive(rt)
	rt = nil
	require.Eventually(t, func() bool {
		runtime.GC()
		c.mu.Lock()
		defer c.mu.Unlock()
		return len(c.entries) == 0
	}, time.Minute, time.Millisecond)
	_ = rt
}

func TestCABundleFileIsReread(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
	t.Cleanup(server.Close)
	foreign, _, err := cert.GenerateSelfSignedCertKey("elsewhere", nil, nil)
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "ca.crt")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	rt, err := open(&Config{TLS: TLSConfig{CAFile: file}})
	require.NoError(t, err)
	r := rt.(*rotatingTransport)
	defer r.CloseIdleConnections()
	get := func(url string) error {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		require.NoError(t, err)
		resp, err := rt.RoundTrip(req)
		if err == nil {
			_ = resp.Body.Close()
		}
		return err
	}
	var unknown x509.UnknownAuthorityError
	require.ErrorAs(t, get(server.URL), &unknown, "with an empty CA file, no server is trusted")
	require.NoError(t, os.WriteFile(file, foreign, 0o600))
	r.reloadIfDue(time.Now().Add(caPeriod))
	require.ErrorAs(t, get(server.URL), &unknown)

	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	require.NoError(t, os.WriteFile(file, authority, 0o600))
	require.Error(t, get(server.URL), "the file is not read again before the end of the period")
	r.reloadIfDue(time.Now().Add(2 * caPeriod))
	require.NoError(t, get(server.URL))

	for i, rubbish := range []string{"rubbish", ""} {
		require.NoError(t, os.WriteFile(file, []byte(rubbish), 0o600))
		r.reloadIfDue(time.Now().Add(time.Duration(3+i) * caPeriod))
		require.NoError(t, get(server.URL), "the last good CA bundle stays in use")
	}
}

func TestAnEmptyCABundleFileTrustsNoServer(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ca.crt")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	for _, rotation := range []bool{true, false} {
		featurestesting.SetFeatureDuringTest(t, features.ClientsAllowCARotation, rotation)
		config, err := TLSConfigFor(&Config{TLS: TLSConfig{CAFile: file}})
		require.NoError(t, err)
		require.True(t, x509.NewCertPool().Equal(config.RootCAs), "with rotation %v, the system's CA certificates must not be trusted", rotation)
	}
}

func TestAWatchEndsWhenTheClientCertificateChanges(t *testing.T) {
	before := CertCallbackRefreshDuration
	CertCallbackRefreshDuration = 10 * time.Millisecond
	defer func() { CertCallbackRefreshDuration = before }()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		w.(http.Flusher).Flush()
		<-req.Context().Done()
	}))
	server.TLS = &tls.Config{ClientAuth: tls.RequestClientCert, MinVersion: tls.VersionTLS12}
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	write := func(name string) {
		certificate, key, err := cert.GenerateSelfSignedCertKey(name, nil, nil)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(certFile, certificate, 0o600))
		require.NoError(t, os.WriteFile(keyFile, key, 0o600))
	}
	write("first")
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	rt, err := open(&Config{TLS: TLSConfig{CAData: authority, CertFile: certFile, KeyFile: keyFile}})
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL, nil)
	require.NoError(t, err)
	watch, err := rt.RoundTrip(req)
	require.NoError(t, err)
	defer watch.Body.Close()

	write("second")
	_, err = io.ReadAll(watch.Body)
	require.Error(t, err)
	require.NoError(t, ctx.Err(), "the watch continues")
	runtime.KeepAlive(rt)
}

func TestTLSOfAConfiguration(t *testing.T) {
	none, err := TLSConfigFor(&Config{})
	require.NoError(t, err)
	require.Nil(t, none)
	_, err = TLSConfigFor(&Config{TLS: TLSConfig{Insecure: true, CAData: []byte("x")}})
	require.Error(t, err)
	_, err = TLSConfigFor(&Config{TLS: TLSConfig{CAData: []byte("x")}})
	require.ErrorContains(t, err, "unable to load root certificates")
	authority, _, err := cert.GenerateSelfSignedCertKey("a", nil, nil)
	require.NoError(t, err)
	unparsable := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: []byte("x")})
	for _, bundle := range [][]byte{slices.Concat(authority, unparsable), slices.Concat(unparsable, authority)} {
		trusted, err := TLSConfigFor(&Config{TLS: TLSConfig{CAData: bundle}})
		require.NoError(t, err, "as with client-go, an unparsable certificate in a CA bundle is skipped")
		require.NotNil(t, trusted.RootCAs)
	}
	_, err = TLSConfigFor(&Config{TLS: TLSConfig{CAData: unparsable}})
	require.ErrorContains(t, err, "failed to parse certificate")
	_, err = TLSConfigFor(&Config{TLS: TLSConfig{CAData: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Headers: map[string]string{"a": "b"}, Bytes: []byte("x")})}})
	require.ErrorContains(t, err, "no valid certificate authority data seen")
	named, err := TLSConfigFor(&Config{TLS: TLSConfig{ServerName: "x", NextProtos: []string{"h2"}}})
	require.NoError(t, err)
	require.EqualValues(t, tls.VersionTLS12, named.MinVersion)
	require.Equal(t, "x", named.ServerName)
	called, err := TLSConfigFor(&Config{TLS: TLSConfig{GetCertHolder: &GetCertHolder{GetCert: func() (*tls.Certificate, error) { return nil, nil }}}})
	require.NoError(t, err)
	pair, err := called.GetClientCertificate(nil)
	require.NoError(t, err)
	require.NotNil(t, pair, "without a certificate, the function returns an empty certificate")
}

func TestCredentialsAreRedactedInLogs(t *testing.T) {
	for value, want := range map[string]string{"": "", "Bearer abc": "Bearer <masked>", "bearer": "bearer", "abc": "<masked>", "Basic eA==": "Basic <masked>", "Odd abc": "<masked>"} {
		require.Equal(t, want, masked("authorization", value))
	}
	require.Equal(t, "v", masked("X-Other", "v"))
}

// If the body were not closed, the writer of a pipe that is a request body would wait forever.
func TestARequestWithoutATokenHasItsBodyClosed(t *testing.T) {
	source := tokens(func() (*oauth2.Token, error) { return nil, errors.New("no token") })
	body, writer := io.Pipe()
	req := httptest.NewRequest(http.MethodPost, "http://server", body)
	_, err := TokenSourceWrapTransport(source)(http.DefaultTransport).RoundTrip(req)
	require.EqualError(t, err, "no token")
	_, err = writer.Write([]byte("x"))
	require.ErrorIs(t, err, io.ErrClosedPipe)
}

type tokens func() (*oauth2.Token, error)

func (f tokens) Token() (*oauth2.Token, error) { return f() }

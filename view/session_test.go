package view

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// guarded is a private view that keeps its log.
type guarded struct {
	*View
	log bytes.Buffer
}

func newGuarded(t *testing.T) *guarded {
	t.Helper()
	g := &guarded{}
	v, err := New(Options{Private: true, Logger: slog.New(slog.NewTextHandler(&g.log, nil))})
	require.NoError(t, err)
	g.View = v
	return g
}

// code returns the code of a new address.
func (g *guarded) code(t *testing.T) string {
	t.Helper()
	address := g.Address("http://127.0.0.1:1/")
	code, ok := strings.CutPrefix(address, "http://127.0.0.1:1/#code=")
	require.True(t, ok, address)
	require.Len(t, code, 26)
	require.NotContains(t, address, g.Token())
	return code
}

// request returns a request of the page. The credential is a token or a session.
func request(method, path, credential, body string) *http.Request {
	r := httptest.NewRequest(method, "http://127.0.0.1:1/"+path, strings.NewReader(body))
	r.RemoteAddr = "127.0.0.1:999"
	if credential != "" {
		r.Header.Set("Authorization", "Bearer "+credential)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	return r
}

// enter sends a code or the token, together with the credential that the browser already has. It
// returns the session, or an error text.
func (g *guarded) enter(t *testing.T, how, credential string) (session, why string) {
	t.Helper()
	what := "code"
	if how == g.Token() || strings.HasPrefix(how, "token ") {
		what = "token"
	}
	w := httptest.NewRecorder()
	g.ServeHTTP(w, request(http.MethodPost, "session", credential, fmt.Sprintf(`{%q:%q}`, what, how)))
	require.Empty(t, w.Header().Values("Set-Cookie"), "the view must set no cookie, because cookies of loopback go to every port")
	if w.Code != http.StatusOK {
		require.Equal(t, http.StatusUnauthorized, w.Code, w.Body)
		return "", w.Body.String()
	}
	var answer struct{ Session, Why string }
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &answer))
	return answer.Session, answer.Why
}

// get requests data, and returns the status code and the text of the response.
func (g *guarded) get(credential string) (int, string) {
	w := httptest.NewRecorder()
	g.ServeHTTP(w, request(http.MethodGet, "parts", credential, ""))
	return w.Code, w.Body.String()
}

func (g *guarded) requireIn(t *testing.T, in bool, credential string) {
	t.Helper()
	code, text := g.get(credential)
	require.Equal(t, in, code == http.StatusOK, "%d %s", code, text)
}

func TestCodeAdmitsOneBrowser(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	code := g.code(t)
	g.requireIn(t, false, code)
	session, _ := g.enter(t, code, "")
	g.requireIn(t, true, session)
	require.Empty(t, g.log.String())

	// The same browser opens the address again, in another tab or after a reload.
	again, _ := g.enter(t, code, session)
	require.Equal(t, session, again)
	require.Empty(t, g.log.String())

	// Another browser has read the address from the command line. The view cannot know which of the
	// two browsers belongs to the user.
	_, refusal := g.enter(t, code, "")
	require.Contains(t, refusal, "opened before")
	require.Contains(t, refusal, "Paste the token")
	g.requireIn(t, false, session)
	_, why := g.get(session)
	require.Contains(t, why, "opened a second time")
	_, why = g.enter(t, "", session)
	require.Contains(t, why, "opened a second time")
	require.Equal(t, 1, strings.Count(g.log.String(), "opened a second time"))
	require.Contains(t, g.log.String(), "127.0.0.1:999")

	_, refusal = g.enter(t, code, "")
	require.Contains(t, refusal, "opened before")
	require.Equal(t, 1, strings.Count(g.log.String(), "\n"), "the log must have only one line")
	for _, secret := range []string{code, session, g.Token()} {
		require.NotContains(t, g.log.String(), secret)
	}

	session, _ = g.enter(t, g.Token(), session)
	g.requireIn(t, true, session)
}

// An address contains a code, which admits one browser. If another browser has used the code before
// the owner opens the address, the page reports it. The session of that browser ends. The owner's
// own session, from the token or from another address, continues.
func TestReusedCodeIsReportedToAnAuthorizedOwner(t *testing.T) {
	t.Parallel()
	for name, credential := range map[string]func(g *guarded) string{
		"the token":                    func(g *guarded) string { return g.Token() },
		"a session of the token":       func(g *guarded) string { s, _ := g.enter(t, g.Token(), ""); return s },
		"a session of another address": func(g *guarded) string { s, _ := g.enter(t, g.code(t), ""); return s },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGuarded(t)
			own, code := credential(g), g.code(t)
			thief, _ := g.enter(t, code, "")
			g.requireIn(t, true, thief)
			for range 2 {
				again, _ := g.enter(t, code, own)
				require.Equal(t, own, again)
				g.requireIn(t, false, thief)
				g.requireIn(t, true, own)
			}
			require.Equal(t, 1, strings.Count(g.log.String(), "opened a second time"))
			_, why := g.get(thief)
			require.Contains(t, why, "opened a second time")
		})
	}
}

// A withdrawn address admits no browser. If the address has already begun a session, the session
// continues.
func TestAnAddressCanBeWithdrawn(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	withdrawn, used := g.Address("http://127.0.0.1:1/"), g.Address("http://127.0.0.1:1/")
	_, code, _ := strings.Cut(used, "#code=")
	session, _ := g.enter(t, code, "")
	for _, address := range []string{withdrawn, used, "http://127.0.0.1:1/", "http://127.0.0.1:1/#code=made+up"} {
		g.Withdraw(address)
	}
	g.requireIn(t, true, session)
	_, code, _ = strings.Cut(withdrawn, "#code=")
	_, refusal := g.enter(t, code, "")
	require.Contains(t, refusal, "has expired")
}

// An open stream ends together with its session.
func TestAStreamEndsWithItsSession(t *testing.T) {
	t.Parallel()
	r := start(t, Options{Private: true, Logger: silent}, 1, nil)
	enter := func(code string) (int, string) {
		status, text, _ := r.ask(t, http.MethodPost, "session", `{"code":"`+code+`"}`, func(r *http.Request) { r.Header.Set("Content-Type", "application/json") })
		return status, text
	}
	_, code, _ := strings.Cut(r.view.Address(r.url), "#code=")
	status, text := enter(code)
	require.Equal(t, 200, status)
	var answer struct{ Session string }
	require.NoError(t, json.Unmarshal([]byte(text), &answer))

	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.url+"stream", nil)
	require.NoError(t, err)
	request.Header.Set("Authorization", "Bearer "+answer.Session)
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	stream, err := transport.RoundTrip(request)
	require.NoError(t, err)
	defer stream.Body.Close()
	require.Equal(t, 200, stream.StatusCode)
	status, _ = enter(code)
	require.Equal(t, 401, status)
	_, err = new(bytes.Buffer).ReadFrom(stream.Body)
	require.Error(t, err)
}

func TestCodeExpiresAfterFiveMinutes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := newGuarded(t)
		in, late := g.code(t), g.code(t)
		time.Sleep(codeTTL)
		session, _ := g.enter(t, in, "")
		g.requireIn(t, true, session)
		time.Sleep(time.Second)
		_, refusal := g.enter(t, late, "")
		require.Contains(t, refusal, "has expired")
		_, refusal = g.enter(t, in, "")
		require.Contains(t, refusal, "has expired")
		g.requireIn(t, true, session)
		g.code(t)
		require.Len(t, g.sessions.codes, 1, "expired codes must be dropped")
	})
}

// A browser with the token needs no code. If it opens an address, it uses up the code.
func TestTokenAdmitsAnyBrowser(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	session, _ := g.enter(t, g.Token(), "")
	require.NotEqual(t, g.Token(), session, "the page must get a session instead of the token")
	again, _ := g.enter(t, g.Token(), "")
	require.Equal(t, session, again, "all browsers with the token must share a session")
	g.requireIn(t, true, session)
	g.requireIn(t, true, g.Token())
	code := g.code(t)
	again, _ = g.enter(t, code, session)
	require.Equal(t, session, again)
	_, refusal := g.enter(t, code, "")
	require.Contains(t, refusal, "opened before")
	g.requireIn(t, true, session)
	_, refusal = g.enter(t, "token of its length, but another", "")
	require.Contains(t, refusal, "not the token")
	_, refusal = g.enter(t, "made up", "")
	require.Contains(t, refusal, "has expired")
	none, why := g.enter(t, "", "a session of a program that has ended")
	require.Empty(t, none+why)
}

func TestSessionsAreBounded(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	first, _ := g.enter(t, g.code(t), "")
	second, _ := g.enter(t, g.code(t), "")
	for range maxSessions - 2 {
		g.enter(t, g.code(t), "")
	}
	g.requireIn(t, true, first)
	g.enter(t, g.code(t), "")
	require.Len(t, g.sessions.open, maxSessions)
	g.requireIn(t, true, first)
	g.requireIn(t, false, second)
}

// A page of another origin can neither use a code nor try tokens.
func TestOtherOriginsCannotBeginASession(t *testing.T) {
	t.Parallel()
	g := newGuarded(t)
	code := g.code(t)
	for name, change := range map[string]func(*http.Request){
		"another origin": func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") },
		"another port":   func(r *http.Request) { r.Header.Set("Origin", "http://127.0.0.1:2") },
		"a navigation":   func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") },
		"another name":   func(r *http.Request) { r.Host = "evil.example" },
		"a form":         func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") },
		"a link":         func(r *http.Request) { r.Method = http.MethodGet },
		"from elsewhere": func(r *http.Request) { r.RemoteAddr = "10.0.0.1:1" },
		"no JSON":        func(r *http.Request) { r.Body = http.NoBody },
		"too long": func(r *http.Request) {
			r.Body = io.NopCloser(strings.NewReader(`{"code":"` + strings.Repeat("x", maxActionBody)))
		},
	} {
		r := request(http.MethodPost, "session", "", `{"code":"`+code+`"}`)
		change(r)
		w := httptest.NewRecorder()
		g.ServeHTTP(w, r)
		require.GreaterOrEqual(t, w.Code, 400, name)
		require.NotContains(t, w.Body.String(), code, name)
	}
	session, _ := g.enter(t, code, "")
	g.requireIn(t, true, session)
}

func TestUnguardedViewHasAPlainAddress(t *testing.T) {
	t.Parallel()
	v, err := New(Options{})
	require.NoError(t, err)
	require.False(t, v.Guarded())
	require.Equal(t, "http://x/", v.Address("http://x/"))
}

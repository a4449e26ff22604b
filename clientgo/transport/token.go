package transport

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/oauth2"
	"k8s.io/klog/v2"
)

// A token from a file is valid for filePeriod. It is read again fileLeeway before the end of that
// period.
const (
	fileLeeway = 10 * time.Second
	filePeriod = time.Minute
)

// ResettableTokenSource is a token source whose token can be invalidated.
type ResettableTokenSource interface {
	oauth2.TokenSource
	// ResetTokenOlderThan drops a token that was obtained before t.
	ResetTokenOlderThan(time.Time)
}

// TokenSourceWrapTransport returns a wrapper that authenticates each request with a token from ts.
func TokenSourceWrapTransport(ts oauth2.TokenSource) func(http.RoundTripper) http.RoundTripper {
	return ResettableTokenSourceWrapTransport(uncachedSource{ts})
}

// uncachedSource adapts a source that caches nothing. So there is nothing to reset.
type uncachedSource struct{ oauth2.TokenSource }

// ResetTokenOlderThan implements [ResettableTokenSource].
func (uncachedSource) ResetTokenOlderThan(time.Time) {}

// ResettableTokenSourceWrapTransport returns a wrapper that authenticates requests with tokens from
// ts. After a 401 response it resets ts.
func ResettableTokenSourceWrapTransport(ts ResettableTokenSource) func(http.RoundTripper) http.RoundTripper {
	return func(rt http.RoundTripper) http.RoundTripper { return withToken(ts, "", rt) }
}

// withToken adds an Authorization header to requests that have no such header. It sends a token of
// source. If source returns an error, it sends fallbackToken, unless fallbackToken is empty.
func withToken(source ResettableTokenSource, fallbackToken string, rt http.RoundTripper) http.RoundTripper {
	return &layer{next: rt, do: func(req *http.Request, next http.RoundTripper) (*http.Response, error) {
		if req.Header.Get("Authorization") != "" {
			return next.RoundTrip(req)
		}
		start := time.Now()
		authorization := "Bearer " + fallbackToken
		token, err := tokenOf(source)
		switch {
		case err == nil:
			authorization = token.Type() + " " + token.AccessToken
		case fallbackToken == "":
			if req.Body != nil {
				// RoundTrip must always close the body, because the writer of the body may wait for
				// the close
				_ = req.Body.Close()
			}
			return nil, err
		}
		req = req.Clone(req.Context())
		req.Header.Set("Authorization", authorization)
		response, err := next.RoundTrip(req)
		if err == nil && response != nil && response.StatusCode == http.StatusUnauthorized {
			source.ResetTokenOlderThan(start)
		}
		return response, err
	}}
}

// tokenOf returns the token of a source. If the source returns no token, the result is an error.
func tokenOf(source oauth2.TokenSource) (*oauth2.Token, error) {
	token, err := source.Token()
	if err == nil && token == nil {
		err = errors.New("the source has no token")
	}
	return token, err
}

// NewCachedFileTokenSource returns a source that reads a token from a file, at most once a minute.
func NewCachedFileTokenSource(path string) *cachingTokenSource {
	return &cachingTokenSource{base: fileSource(path), leeway: fileLeeway, now: time.Now}
}

// NewCachedTokenSource returns a source that caches the token of ts until the token expires. A
// token without an expiry is not cached: each call gets a new token from ts.
func NewCachedTokenSource(ts oauth2.TokenSource) *cachingTokenSource {
	return &cachingTokenSource{base: ts, now: time.Now}
}

// fileSource is the path of a file with a token.
type fileSource string

// Token implements [oauth2.TokenSource].
func (f fileSource) Token() (*oauth2.Token, error) {
	data, err := os.ReadFile(string(f))
	if err != nil {
		return nil, fmt.Errorf("failed to read token file %q: %w", string(f), err)
	}
	token := strings.TrimSpace(string(data))
	if token == "" {
		return nil, fmt.Errorf("read empty token from file %q", string(f))
	}
	return &oauth2.Token{AccessToken: token, Expiry: time.Now().Add(filePeriod)}, nil
}

// cachingTokenSource caches a token of base until the time leeway before its expiry. If base fails,
// the last token stays in use.
type cachingTokenSource struct {
	base   oauth2.TokenSource
	leeway time.Duration
	now    func() time.Time

	// RWMutex guards the following fields. It is held for writing during a call of base, so all
	// callers wait for that call. It is embedded because client-go embeds it, which exports its
	// methods.
	sync.RWMutex
	tok      *oauth2.Token
	obtained time.Time
}

var _ ResettableTokenSource = (*cachingTokenSource)(nil)

// Token implements [oauth2.TokenSource].
func (s *cachingTokenSource) Token() (*oauth2.Token, error) {
	s.RLock()
	kept := s.cachedLocked()
	s.RUnlock()
	if kept != nil {
		return kept, nil
	}
	s.Lock()
	defer s.Unlock()
	if kept := s.cachedLocked(); kept != nil { // fetched by another goroutine
		return kept, nil
	}
	token, err := tokenOf(s.base)
	if err != nil {
		if s.tok == nil {
			return nil, err
		}
		klog.ErrorS(err, "Unable to rotate token")
		return s.tok, nil
	}
	s.tok, s.obtained = token, s.now()
	return token, nil
}

// cachedLocked returns the cached token. It returns nil if there is no token, or if the token
// expires soon or has no expiry.
func (s *cachingTokenSource) cachedLocked() *oauth2.Token {
	if s.tok == nil || !s.tok.Expiry.Add(-s.leeway).After(s.now()) {
		return nil
	}
	return s.tok
}

// ResetTokenOlderThan implements [ResettableTokenSource].
func (s *cachingTokenSource) ResetTokenOlderThan(t time.Time) {
	s.Lock()
	defer s.Unlock()
	if s.obtained.Before(t) {
		s.tok = nil
	}
}

package transport

import (
	"fmt"
	"net/http"
	"strings"
)

// The headers by which a request is made on behalf of another user.
const (
	ImpersonateUserHeader  = "Impersonate-User"
	ImpersonateUIDHeader   = "Impersonate-Uid"
	ImpersonateGroupHeader = "Impersonate-Group"

	// ImpersonateUserExtraHeaderPrefix has the escaped key of an extra after it.
	ImpersonateUserExtraHeaderPrefix = "Impersonate-Extra-"
)

// NewUserAgentRoundTripper sets User-Agent in requests that have none.
func NewUserAgentRoundTripper(agent string, rt http.RoundTripper) http.RoundTripper {
	return setting(rt, has("User-Agent"), func(req *http.Request) { req.Header.Set("User-Agent", agent) })
}

// NewBasicAuthRoundTripper authenticates requests that have no authorization by a name and a password.
func NewBasicAuthRoundTripper(username, password string, rt http.RoundTripper) http.RoundTripper {
	return setting(rt, has("Authorization"), func(req *http.Request) { req.SetBasicAuth(username, password) })
}

// NewBearerAuthRoundTripper authenticates requests that have no authorization by a token.
func NewBearerAuthRoundTripper(bearer string, rt http.RoundTripper) http.RoundTripper {
	return setting(rt, has("Authorization"), func(req *http.Request) { req.Header.Set("Authorization", "Bearer "+bearer) })
}

// NewBearerAuthWithRefreshRoundTripper is NewBearerAuthRoundTripper with a token from a file, which is read again every minute,
// and after an answer 401. While it cannot be read, the last token stays. Without a file, the token is bearer. Without a
// bearer, a file that cannot be read is an error.
func NewBearerAuthWithRefreshRoundTripper(bearer string, tokenFile string, rt http.RoundTripper) (http.RoundTripper, error) {
	if tokenFile == "" {
		return NewBearerAuthRoundTripper(bearer, rt), nil
	}
	source := NewCachedFileTokenSource(tokenFile)
	if bearer == "" {
		token, err := source.Token()
		if err != nil {
			return nil, err
		}
		bearer = token.AccessToken
	}
	return authenticating(source, bearer, rt), nil
}

// NewImpersonatingRoundTripper makes requests on behalf of a user, unless they are made on behalf of one already.
func NewImpersonatingRoundTripper(impersonate ImpersonationConfig, delegate http.RoundTripper) http.RoundTripper {
	return setting(delegate, has(ImpersonateUserHeader), func(req *http.Request) {
		req.Header.Set(ImpersonateUserHeader, impersonate.UserName)
		if impersonate.UID != "" {
			req.Header.Set(ImpersonateUIDHeader, impersonate.UID)
		}
		for _, group := range impersonate.Groups {
			req.Header.Add(ImpersonateGroupHeader, group)
		}
		for key, values := range impersonate.Extra {
			for _, value := range values {
				req.Header.Add(ImpersonateUserExtraHeaderPrefix+escaped(key), value)
			}
		}
	})
}

// The headers by which an authenticating proxy tells a server who the user is.
const (
	remoteUser        = "X-Remote-User"
	remoteUID         = "X-Remote-Uid"
	remoteGroup       = "X-Remote-Group"
	remoteExtraPrefix = "X-Remote-Extra-"
)

// NewAuthProxyRoundTripper tells a server who the user is, as an authenticating proxy does.
func NewAuthProxyRoundTripper(username, uid string, groups []string, extra map[string][]string, rt http.RoundTripper) http.RoundTripper {
	return setting(rt, nil, func(req *http.Request) { SetAuthProxyHeaders(req, username, uid, groups, extra) })
}

// SetAuthProxyHeaders replaces the headers of a request that say who the user is.
func SetAuthProxyHeaders(req *http.Request, username, uid string, groups []string, extra map[string][]string) {
	for key := range req.Header {
		if key == remoteUser || key == remoteUID || key == remoteGroup || strings.HasPrefix(strings.ToLower(key), strings.ToLower(remoteExtraPrefix)) {
			req.Header.Del(key)
		}
	}
	req.Header.Set(remoteUser, username)
	if uid != "" {
		req.Header.Set(remoteUID, uid)
	}
	for _, group := range groups {
		req.Header.Add(remoteGroup, group)
	}
	for key, values := range extra {
		for _, value := range values {
			req.Header.Add(remoteExtraPrefix+escaped(key), value)
		}
	}
}

// escaped is a key of an extra as a part of a header's name: what such a name cannot have is escaped as in a URL, and so is "%".
func escaped(key string) string {
	var b strings.Builder
	for _, c := range []byte(key) {
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if letter || strings.IndexByte("!#$&'*+-.^_`|~", c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

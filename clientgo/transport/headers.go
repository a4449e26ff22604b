package transport

import (
	"fmt"
	"net/http"
	"strings"
)

// Headers for requests on behalf of another user.
const (
	ImpersonateUserHeader  = "Impersonate-User"
	ImpersonateUIDHeader   = "Impersonate-Uid"
	ImpersonateGroupHeader = "Impersonate-Group"

	// ImpersonateUserExtraHeaderPrefix is followed by the escaped key of an extra field of the
	// user.
	ImpersonateUserExtraHeaderPrefix = "Impersonate-Extra-"
)

// NewUserAgentRoundTripper sets the User-Agent header of requests that do not set it.
func NewUserAgentRoundTripper(agent string, rt http.RoundTripper) http.RoundTripper {
	return settingLayer(rt, has("User-Agent"), func(req *http.Request) { req.Header.Set("User-Agent", agent) })
}

// NewBasicAuthRoundTripper sets a user name and password on requests that have no Authorization
// header.
func NewBasicAuthRoundTripper(username, password string, rt http.RoundTripper) http.RoundTripper {
	return settingLayer(rt, has("Authorization"), func(req *http.Request) { req.SetBasicAuth(username, password) })
}

// NewBearerAuthRoundTripper sets a token on requests that have no Authorization header.
func NewBearerAuthRoundTripper(bearer string, rt http.RoundTripper) http.RoundTripper {
	return settingLayer(rt, has("Authorization"), func(req *http.Request) { req.Header.Set("Authorization", "Bearer "+bearer) })
}

// NewBearerAuthWithRefreshRoundTripper is NewBearerAuthRoundTripper with a token from a file. The
// file is read again every minute, and after a 401 response. If reading fails, the last token stays
// in use. If tokenFile is empty, the token is bearer. If bearer is empty, an unreadable file is an
// error.
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
	return withToken(source, bearer, rt), nil
}

// NewImpersonatingRoundTripper makes requests on behalf of a user, unless a request already
// impersonates a user.
func NewImpersonatingRoundTripper(impersonate ImpersonationConfig, delegate http.RoundTripper) http.RoundTripper {
	return settingLayer(delegate, has(ImpersonateUserHeader), func(req *http.Request) {
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

// Headers with which an authenticating proxy identifies the user to a server.
const (
	remoteUser        = "X-Remote-User"
	remoteUID         = "X-Remote-Uid"
	remoteGroup       = "X-Remote-Group"
	remoteExtraPrefix = "X-Remote-Extra-"
)

// NewAuthProxyRoundTripper identifies the user to a server, as an authenticating proxy does.
func NewAuthProxyRoundTripper(username, uid string, groups []string, extra map[string][]string, rt http.RoundTripper) http.RoundTripper {
	return settingLayer(rt, nil, func(req *http.Request) { SetAuthProxyHeaders(req, username, uid, groups, extra) })
}

// SetAuthProxyHeaders replaces the headers of a request that identify the user.
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

// escaped returns the key of an extra field as a part of a header name. It percent-encodes "%" and
// all characters that are not valid in a header name.
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

package view

import (
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// statusError is an error with the HTTP status code of the response.
type statusError struct {
	code int
	error
}

func statusErrorf(code int, format string, args ...any) error {
	return statusError{code, fmt.Errorf(format, args...)}
}

// checkRequest returns an error with the reason if a request is refused.
func (v *View) checkRequest(r *http.Request, data bool) error {
	if !v.opts.Remote && !isLoopback(r.RemoteAddr) {
		return statusErrorf(http.StatusForbidden, "this page is only for this machine: use a tunnel, such as kubectl port-forward")
	}
	if !v.isAllowedHost(r.Host) {
		return statusErrorf(http.StatusForbidden, "the host name %q is not allowed: use an IP address or localhost, or add the name to Options.Hosts", clean(r.Host))
	}
	if data && !isSameOrigin(r) {
		return statusErrorf(http.StatusForbidden, "requests from pages of other origins are refused; if a proxy is in front of this page, the proxy must pass on the Host header unchanged")
	}
	return nil
}

// checkRead returns an error with the reason if a request must not read data.
func (v *View) checkRead(r *http.Request) error {
	if v.opts.Private && !v.authorized(r) {
		return v.unauthorized(r, "this page needs the token: open the address that the program has printed")
	}
	return nil
}

// checkWrite returns an error with the reason if a request must not change anything.
func (v *View) checkWrite(r *http.Request) error {
	if v.opts.Laboratory == nil {
		return statusErrorf(http.StatusNotFound, "this view has no laboratory, so nothing can be changed")
	}
	if !v.authorized(r) {
		return v.unauthorized(r, "a change needs the token: open the address that the program has printed")
	}
	return checkJSONPost(r)
}

// checkJSONPost returns an error unless the request is a POST of JSON. Only a script can send JSON;
// a form on another page cannot.
func checkJSONPost(r *http.Request) error {
	if r.Method != http.MethodPost {
		return statusErrorf(http.StatusMethodNotAllowed, "only POST is allowed here")
	}
	if media, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";"); strings.TrimSpace(media) != "application/json" {
		return statusErrorf(http.StatusUnsupportedMediaType, "the Content-Type must be application/json")
	}
	return nil
}

// isLoopback reports whether an address is a loopback address of this machine.
func isLoopback(address string) bool {
	at, err := netip.ParseAddrPort(address)
	return err == nil && at.Addr().Unmap().IsLoopback()
}

// isAllowedHost reports whether a Host header is an accepted name of the page. An IP address is
// always accepted: unlike a name, it cannot be made to point to another server later.
func (v *View) isAllowedHost(host string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	}
	name = strings.TrimSuffix(strings.ToLower(name), ".")
	if _, err := netip.ParseAddr(name); err == nil || name == "localhost" {
		return true
	}
	return name != "" && slices.ContainsFunc(v.opts.Hosts, func(own string) bool { return strings.EqualFold(own, name) })
}

// isSameOrigin reports whether a request comes from this page, or not from a page.
func isSameOrigin(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		return false
	}
	origin := r.Header.Get("Origin")
	if origin == "" {
		return true
	}
	from, err := url.Parse(origin)
	return err == nil && from.Host != "" && strings.EqualFold(from.Host, r.Host)
}

// authorized reports whether a request has the token or a session.
func (v *View) authorized(r *http.Request) bool {
	given, ok := bearer(r)
	return ok && (v.isToken(given) || v.sessions.has(given))
}

func (v *View) isToken(given string) bool {
	return subtle.ConstantTimeCompare([]byte(given), []byte(v.opts.Token)) == 1
}

// unauthorized returns the error for a request without access. It has the reason why the request's
// session has ended, if that is known. Otherwise it has the text of the argument otherwise.
func (v *View) unauthorized(r *http.Request, otherwise string) error {
	if given, ok := bearer(r); ok {
		if err := v.sessions.endReason(given); err != nil {
			return err
		}
	}
	return statusErrorf(http.StatusUnauthorized, "%s", otherwise)
}

// contentSecurityPolicy is the page's policy for browsers: no content from other origins, no inline
// scripts or styles, and no markup made from text.
const contentSecurityPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

func setSecurityHeaders(h http.Header) {
	h.Set("Content-Security-Policy", contentSecurityPolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

// writeError sends the error as a text response.
func writeError(w http.ResponseWriter, err error) {
	code := http.StatusInternalServerError
	var r statusError
	switch {
	case errors.As(err, &r):
		code = r.code
	case errors.Is(err, ErrUnknownPipeline):
		code = http.StatusNotFound
	case errors.Is(err, errTooMany):
		code = http.StatusServiceUnavailable
		w.Header().Set("Retry-After", "5")
	}
	http.Error(w, err.Error(), code)
}

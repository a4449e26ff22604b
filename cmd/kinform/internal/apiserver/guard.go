package apiserver

import (
	"fmt"
	"mime"
	"net"
	"net/http"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// simpleTypes are content types that a web page may send to any server without a preflight request.
var simpleTypes = []string{"", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data"}

// guard refuses requests that a web page can cause, because a page in a local browser can reach
// loopback addresses:
//
//   - requests for another host name, because after DNS rebinding any name may have this address;
//   - requests that name the page from which they come;
//   - writes with a content type that needs no preflight request.
//
// No Kubernetes client sends such requests. The argument listen is the server's address.
func guard(listen string) func(*http.Request) error {
	own, _, _ := net.SplitHostPort(listen)
	return func(r *http.Request) error {
		switch site := r.Header.Get("Sec-Fetch-Site"); {
		case !isOwnHost(r.Host, own):
			return forbiddenf("the host name %q is not this server's: use the server's address, or localhost", r.Host)
		case r.Header.Get("Origin") != "" || site != "" && site != "none" && site != "same-origin":
			return forbiddenf("requests from pages of other origins are refused")
		case hasBody(r) && slices.Contains(simpleTypes, mediaType(r)):
			return forbiddenf("the Content-Type %q is not a type of Kubernetes: use application/json", r.Header.Get("Content-Type"))
		}
		return nil
	}
}

// isOwnHost reports whether a Host header names this server: by its address, by localhost, or by
// the name in --listen. If the server listens on all addresses, every IP address is accepted.
// Unlike a name, an IP address cannot be made to point to another server later.
func isOwnHost(host, own string) bool {
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	}
	name = strings.TrimSuffix(strings.ToLower(name), ".")
	listens := net.ParseIP(own)
	if ip := net.ParseIP(name); ip != nil {
		return ip.IsLoopback() || ip.Equal(listens) || own == "" || listens.IsUnspecified() || listens == nil
	}
	return name == "localhost" || name != "" && name == strings.ToLower(own)
}

// hasBody reports whether a request has, or should have, a body.
func hasBody(r *http.Request) bool {
	return r.Method == http.MethodPost || r.ContentLength != 0 && r.Method != http.MethodGet && r.Method != http.MethodHead
}

func mediaType(r *http.Request) string {
	of, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		return ""
	}
	return of
}

func forbiddenf(format string, args ...any) error {
	return apierrors.NewForbidden(schema.GroupResource{}, "", fmt.Errorf(format, args...))
}

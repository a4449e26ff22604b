package rest

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
)

// Impersonation is somebody else in whose name requests are made, for which the
// verb "impersonate" is needed. The zero value is nobody. See
// https://kubernetes.io/docs/reference/access-authn-authz/user-impersonation/.
type Impersonation struct {
	// User is whom to act as. It is required with any of the others.
	User string

	// UID is the user's unique identifier. Defaults to none.
	UID string

	// Groups are what the user is a member of, besides those that the server adds
	// to everybody. Default to none.
	Groups []string

	// Extra is whatever else authorisers look at, such as scopes. Servers read its
	// keys in lower case. Defaults to nothing.
	Extra map[string][]string
}

// header returns the header that asks for i, empty for nobody.
func (i *Impersonation) header() (http.Header, error) {
	header := http.Header{}
	for name, values := range i.Extra {
		// What a header's name must not have, servers expect as in the path of a URL.
		header["Impersonate-Extra-"+strings.ReplaceAll(url.QueryEscape(name), "+", "%20")] = values
	}
	if i.UID != "" {
		header["Impersonate-Uid"] = []string{i.UID}
	}
	if len(i.Groups) > 0 {
		header["Impersonate-Group"] = i.Groups
	}
	if i.User != "" {
		header["Impersonate-User"] = []string{i.User}
	} else if len(header) > 0 {
		return nil, errors.New("impersonating a uid, groups or extra needs a user as well")
	}
	return header, nil
}

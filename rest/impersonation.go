package rest

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
)

// Impersonation names the user on whose behalf a client makes requests. The client's own user needs
// the verb "impersonate" for this. The zero value names nobody. See
// https://kubernetes.io/docs/reference/access-authn-authz/user-impersonation/.
type Impersonation struct {
	// User is the name of the user. It is required if another field is set.
	User string

	// UID is the user's unique identifier. Defaults to "".
	UID string

	// Groups are the groups of the user, in addition to the groups that the server adds to every
	// user. Defaults to no groups.
	Groups []string

	// Extra has further attributes of the user for authorizers, such as scopes. Servers read its
	// keys in lower case. Defaults to no attributes.
	Extra map[string][]string
}

// header returns the headers that request the impersonation, or no headers if i names nobody.
func (i *Impersonation) header() (http.Header, error) {
	header := http.Header{}
	for name, values := range i.Extra {
		// Servers expect characters that are invalid in a header's name to be escaped, as in the
		// path of a URL.
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

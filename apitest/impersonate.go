package apitest

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"
)

// impersonate returns the user that the request impersonates. The client needs permission to
// impersonate each attribute: the user, the groups, the UID and the extra attributes.
func (s *Server) impersonate(user User, r *http.Request) (User, error) {
	as := User{
		Name: r.Header.Get(authenticationv1.ImpersonateUserHeader), UID: r.Header.Get(authenticationv1.ImpersonateUIDHeader),
		Groups: r.Header.Values(authenticationv1.ImpersonateGroupHeader), Extra: impersonatedExtra(r.Header),
	}
	if as.Name == "" {
		if as.UID != "" || len(as.Groups) > 0 || len(as.Extra) > 0 {
			return user, apierrors.NewBadRequest("a group, a uid or extra is impersonated without a user")
		}
		return user, nil
	}
	wanted := []attributes{{resource: "users", name: as.Name}}
	namespace, name, isAccount := accountOf(as.Name)
	if isAccount {
		wanted[0] = attributes{resource: "serviceaccounts", namespace: namespace, name: name}
	}
	for _, group := range as.Groups {
		wanted = append(wanted, attributes{resource: "groups", name: group})
	}
	for _, key := range slices.Sorted(maps.Keys(as.Extra)) {
		for _, value := range as.Extra[key] {
			wanted = append(wanted, attributes{group: authenticationv1.GroupName, resource: "userextras", subresource: key, name: value})
		}
	}
	if as.UID != "" {
		wanted = append(wanted, attributes{group: authenticationv1.GroupName, resource: "uids", name: as.UID})
	}
	for _, a := range wanted {
		a.verb = "impersonate"
		if err := s.authorize(user, a); err != nil {
			return user, err
		}
	}
	if isAccount && len(as.Groups) == 0 {
		as.Groups = accountGroups(namespace)
	}
	as.Groups = withAuthentication(as)
	return as, nil
}

// impersonatedExtra reads the extra attributes of the impersonated user from the headers.
func impersonatedExtra(header http.Header) map[string][]string {
	var extra map[string][]string
	for name, values := range header {
		key, ok := strings.CutPrefix(name, authenticationv1.ImpersonateUserExtraHeaderPrefix)
		if !ok {
			continue
		}
		key = strings.ToLower(key)
		if plain, err := url.PathUnescape(key); err == nil {
			key = plain
		}
		if extra == nil {
			extra = map[string][]string{}
		}
		extra[key] = append(extra[key], values...)
	}
	return extra
}

// withAuthentication returns the groups of a user. Unless they include system:authenticated or
// system:unauthenticated, it adds system:authenticated, or system:unauthenticated for the anonymous
// user.
func withAuthentication(user User) []string {
	group, said := groupAuthenticated, []string{groupAuthenticated, groupUnauthenticated}
	if user.Name == userAnonymous {
		group, said = groupUnauthenticated, said[1:]
	}
	for _, g := range said {
		if slices.Contains(user.Groups, g) {
			return user.Groups
		}
	}
	return append(slices.Clone(user.Groups), group)
}

// accountOf splits a user name into the namespace and name of a service account. If ok is false,
// the user is not a service account. The account need not exist.
func accountOf(user string) (namespace, name string, ok bool) {
	of, ok := strings.CutPrefix(user, "system:serviceaccount:")
	if !ok {
		return "", "", false
	}
	namespace, name, ok = strings.Cut(of, ":")
	return namespace, name, ok && len(validation.NameIsDNSLabel(namespace, false)) == 0 && len(validation.NameIsDNSSubdomain(name, false)) == 0
}

// accountGroups returns the groups to which each service account of a namespace belongs.
func accountGroups(namespace string) []string {
	return []string{"system:serviceaccounts", "system:serviceaccounts:" + namespace}
}
